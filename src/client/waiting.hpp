// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <utility>

#include "loop/timed_wait.hpp"
#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

using loop::TimedWait;
using loop::within;

/// Runs a connection's reaction to an event; if memory runs out, calls `fail`, which needs none.
/// See docs/decisions/0020.
template <class Work, class Fail>
void guarded(Work&& work, Fail&& fail) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    std::forward<Fail>(fail)(Error(Errc::OutOfMemory, "connection"));
  }
}

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
