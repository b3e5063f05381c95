// SPDX-License-Identifier: MIT
// Calls in, each made once by some thread. A thread is started only while there are more calls than
// idle threads, so that whoever offloads nothing pays nothing.
#include "loop/worker_pool.hpp"

#include <system_error>
#include <utility>

namespace skua::loop {

WorkerPool::~WorkerPool() {
  std::deque<std::function<void()>> dropped;  // outside of the lock: what they own may submit
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    queue_.swap(dropped);
  }
  dropped.clear();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::submit(std::function<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return false;
    const bool has_thread = idle_ > queue_.size();
    if (!has_thread && threads_.size() < most_threads_) {
      try {
        threads_.emplace_back([this] { work(); });
        ++idle_;  // it is about to look at the queue
      } catch (const std::system_error&) {
        if (threads_.empty()) return false;  // the system has none to give
      }
    }
    if (queue_.size() >= most_queued_ + idle_) return false;
    queue_.push_back(std::move(call));
  }
  changed_.notify_one();
  return true;
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    if (is_ending_) return;
    std::function<void()> call = std::move(queue_.front());
    queue_.pop_front();
    --idle_;
    lock.unlock();
    call();
    call = nullptr;  // outside of the lock, too: what it owned may submit, or take its time to go
    lock.lock();
    ++idle_;
  }
}

}  // namespace skua::loop
