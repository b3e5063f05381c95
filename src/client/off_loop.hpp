// SPDX-License-Identifier: MIT
#pragma once

#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Does work that blocks, and returns a Result, on one of the threads for it.
///
/// Ends with: what the work ends with; Overloaded where too much waits for those threads.
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
