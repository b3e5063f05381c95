// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace skua::loop {

/// Threads for calls that would make a loop wait. They are started when they are first needed.
///
/// Lifetime:  the destructor waits for the calls that have begun, and drops the others.
class WorkerPool {
 public:
  /// At most `threads` calls at a time (at least one), and `queued` that wait for a thread.
  WorkerPool(std::size_t threads, std::size_t queued) noexcept
      : most_threads_(threads == 0 ? 1 : threads), most_queued_(queued) {}
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Makes a call on one of the threads; false when the queue is full. Any thread.
  bool submit(std::function<void()> call);

 private:
  void work();

  const std::size_t most_threads_;
  const std::size_t most_queued_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_, as all that follows
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool is_ending_ = false;
};

}  // namespace skua::loop
