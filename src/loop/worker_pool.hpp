// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace skua::loop {

/// Threads for calls that would make a loop wait. They are started when they are first needed.
///
/// Lifetime:  the destructor waits for the calls that have begun, and drops the others. One of the
///            calls may destroy the pool: it is not waited for.
class WorkerPool {
 public:
  /// At most `threads` calls at a time (at least one), and `queued` that wait for a thread.
  WorkerPool(std::size_t threads, std::size_t queued);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Makes a call on one of the threads; false when the queue is full. Any thread.
  bool submit(std::function<void()> call);
  /// Whether this is one of the threads.
  [[nodiscard]] bool is_own_thread() const noexcept;

 private:
  struct State;

  const std::shared_ptr<State>
      state_;  // shared with the threads, one of which may outlive the pool
};

}  // namespace skua::loop
