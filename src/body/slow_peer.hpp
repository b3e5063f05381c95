// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>

#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::body {

/// Thrown by a producer whose peer takes its content too slowly to be waited for. The response is
/// cut off at once: what still waits to be sent is dropped. Nothing is logged.
class SlowPeer final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the peer is too slow"; }
};

/// Suspends a task until either list is woken.
class EitherWait final {
 public:
  EitherWait(detail::WaiterList& one, detail::WaiterList& other) noexcept
      : one_(one), other_(other) {}
  EitherWait(const EitherWait&) = delete;
  EitherWait& operator=(const EitherWait&) = delete;

  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    one_.park(first_, caller);
    other_.park(second_, caller);
  }
  static void await_resume() noexcept {}

 private:
  detail::WaiterList& one_;
  detail::WaiterList& other_;
  detail::Waiter first_;
  detail::Waiter second_;
};

/// Awaits `room` for more content, but no longer than until `is_late()`, which is asked whenever
/// `changed` is woken.
///
/// Ends with: SlowPeer once `is_late()`.
template <class Room, class IsLate>
Task<> await_room(Room& room, detail::WaiterList& changed, IsLate is_late) {
  detail::WaiterList ended;
  Task<> waiting = [](Room& it) -> Task<> { co_await it; }(room);
  waiting.start([](void* list) noexcept { static_cast<detail::WaiterList*>(list)->wake_all(); },
                &ended);
  while (!waiting.is_done()) {
    if (is_late()) {
      co_await detail::YieldAwaiter();  // a stream does not end inside its start
      throw SlowPeer();
    }
    co_await EitherWait(ended, changed);
  }
}

}  // namespace skua::body
