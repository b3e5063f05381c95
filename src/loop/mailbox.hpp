// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "loop/backend.hpp"

namespace skua::loop {

/// Tasks that other threads post to a loop. It may outlive the loop, and then rejects posts.
class Mailbox {
 public:
  explicit Mailbox(Backend& backend) noexcept : backend_(&backend) {}

  /// Runs `task` on the loop's thread, in the order of posting; one wake-up per batch. Any thread.
  /// Returns false if the loop is gone.
  bool post(std::function<void()> task);

  // For the loop.

  [[nodiscard]] bool has_posts() const noexcept {
    return has_posts_.load(std::memory_order_acquire);
  }
  void swap(std::vector<std::function<void()>>& empty);
  void close() noexcept;

 private:
  std::atomic<bool> has_posts_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> posts_;  // guarded by mutex_, like the next
  Backend* backend_;                          // null once the loop is gone
};

}  // namespace skua::loop
