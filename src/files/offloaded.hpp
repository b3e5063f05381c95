// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "async/off_loop.hpp"
#include "skua/async.hpp"
#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/task.hpp"

namespace skua::files {

/// Writes the pieces that `work->next()` makes on the offload pool, until `work->is_done()`. A
/// piece may be empty.
///
/// Waits for: the pool, and the client.
/// Ends with: the exceptions of next().
template <class Work>
Task<> write_offloaded(std::shared_ptr<Work> work, BodyWriter& writer) {
  while (!work->is_done()) {
    std::string piece = co_await async::off_loop(&Work::next, work);
    if (piece.empty()) continue;
    auto written = writer.write(Body(std::move(piece)));
    co_await written;
  }
}

}  // namespace skua::files
