// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>

#include "loop/loop.hpp"
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

}  // namespace skua::client
