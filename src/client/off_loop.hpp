// SPDX-License-Identifier: MIT
#pragma once

#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Runs blocking work that returns a Result on a worker thread.
///
/// Ends with: the work's error; Overloaded if too much work is already queued.
template <class F>
Task<Result<void>> off_loop(F work) {
  try {
    const Result<void> done = co_await offload(work);
    co_return done;
  } catch (const Exception& exception) {
    co_return exception.error();
  }
}

}  // namespace skua::client
