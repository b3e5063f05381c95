// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>

#include "loop/loop.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// Waits in a list until that is woken, or a time is over, whichever comes first; who waits looks
/// which it was, and may be woken for nothing.
///
/// ```cpp
/// while (!is_done && left > Duration(0)) co_await TimedWait(loop, changed, left);
/// ```
class TimedWait final {
 public:
  TimedWait(loop::Loop& loop, skua::detail::WaiterList& list, Duration limit) noexcept
      : list_(list),
        timer_(loop.timers(), loop::call_member<&TimedWait::on_time>, this),
        limit_(std::min(limit, Duration(24h))) {}  // no time is too long to be added to now
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
