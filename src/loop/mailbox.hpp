// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "loop/backend.hpp"

namespace skua::loop {

/// What other threads want a loop to run. It may outlive the loop, and takes nothing then.
class Mailbox {
 public:
  explicit Mailbox(Backend& backend) noexcept : backend_(&backend) {}

  /// Runs `task` on the loop's thread, in the order of posting; one wake a batch. Any thread. False
  /// when the loop is gone.
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
  std::vector<std::function<void()>> posts_;  // guarded by mutex_, as the next
  Backend* backend_;                          // null when the loop is gone
};

}  // namespace skua::loop
