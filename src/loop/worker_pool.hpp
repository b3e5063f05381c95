// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace skua::loop {

/// A pool of threads for calls that would block a loop. Threads are started on demand.
///
/// Lifetime:  the destructor waits for calls that have started, and drops the others. A call may
///            destroy the pool, which then does not wait for that call.
class WorkerPool {
 public:
  /// Runs at most `threads` calls at a time (at least one), and queues at most `queued` more.
  WorkerPool(std::size_t threads, std::size_t queued);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Runs a call on one of the threads. Returns false if the queue is full. Any thread.
  bool submit(std::function<void()> call);
  struct Counts {
    std::size_t running = 0;  ///< calls, at present
    std::size_t waiting = 0;  ///< for a thread
    std::size_t refused = 0;  ///< since the start
  };
  /// Any thread.
  [[nodiscard]] Counts counts() const;
  /// Reports whether submit() would return false now. Any thread.
  [[nodiscard]] bool is_full() const noexcept;
  /// Whether the calling thread belongs to this pool.
  [[nodiscard]] bool is_own_thread() const noexcept;

 private:
  struct State;

  const std::shared_ptr<State> state_;  // shared with threads, one of which may outlive the pool
};

}  // namespace skua::loop
