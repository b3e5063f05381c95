// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "client/timed_wait.hpp"
#include "loop/loop.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

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

}  // namespace skua::client
