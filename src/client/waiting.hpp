// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <new>
#include <optional>
#include <utility>

#include "loop/loop.hpp"
#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// Waits until a list is woken or a time has passed, whichever comes first. The caller must check
/// which it was; wake-ups may be spurious.
///
/// ```cpp
/// while (!is_done && left > Duration(0)) co_await TimedWait(loop, changed, left);
/// ```
class TimedWait final {
 public:
  TimedWait(loop::Loop& loop, skua::detail::WaiterList& list, Duration limit) noexcept
      : list_(list),
        timer_(loop.timers(), loop::call_member<&TimedWait::on_time>, this),
        limit_(std::min(limit, Duration(24h))) {}  // so that now + limit cannot overflow
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    list_.park(waiter_, caller);
    timer_.start(limit_);
  }
  void await_resume() noexcept { timer_.stop(); }

 private:
  void on_time() noexcept { waiter_.wake(); }

  skua::detail::WaiterList& list_;
  skua::detail::Waiter waiter_;
  loop::Timer timer_;
  Duration limit_;
};

/// Returns a task's result, or nullopt if it has not ended at the deadline: then it is dropped.
///
/// Ends with: the task's exceptions.
template <class T>
Task<std::optional<T>> within(loop::Loop& loop, loop::Instant deadline, Task<T> task) {
  skua::detail::WaiterList ended;
  task.start([](void* list) noexcept { static_cast<skua::detail::WaiterList*>(list)->wake_all(); },
             &ended);
  while (!task.is_done()) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) co_return std::nullopt;
    co_await TimedWait(loop, ended, left);
  }
  co_return std::optional<T>(task.result());
}

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
