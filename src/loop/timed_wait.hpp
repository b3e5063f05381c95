// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <optional>

#include "loop/loop.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::loop {

/// Waits until a list is woken or a time has passed, whichever comes first. The caller must check
/// which it was; wake-ups may be spurious.
///
/// ```cpp
/// while (!is_done && left > Duration(0)) co_await TimedWait(loop, changed, left);
/// ```
class TimedWait final {
 public:
  TimedWait(Loop& loop, skua::detail::WaiterList& list, Duration limit) noexcept
      : list_(list),
        timer_(loop.timers(), call_member<&TimedWait::on_time>, this),
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
  Timer timer_;
  Duration limit_;
};

/// Returns a task's result, or nullopt if it has not ended at the deadline: then it is dropped.
///
/// Ends with: the task's exceptions.
template <class T>
Task<std::optional<T>> within(Loop& loop, Instant deadline, Task<T> task) {
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

}  // namespace skua::loop
