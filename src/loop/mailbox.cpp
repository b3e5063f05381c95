// SPDX-License-Identifier: MIT
// In: calls from any thread. Out: a batch per turn. Wake-ups happen under the lock, so that the
// loop cannot go away between the check and the call.
#include "loop/mailbox.hpp"

#include <utility>

namespace skua::loop {

bool Mailbox::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (backend_ == nullptr) return false;
  const bool is_first = posts_.empty();
  posts_.push_back(std::move(task));
  has_posts_.store(true, std::memory_order_release);
  if (is_first) backend_->wake();
  return true;
}

void Mailbox::swap(std::vector<std::function<void()>>& empty) {
  const std::lock_guard lock(mutex_);
  posts_.swap(empty);
  has_posts_.store(false, std::memory_order_release);
}

void Mailbox::close() noexcept {
  std::vector<std::function<void()>> dropped;  // destroyed outside the lock: destructors may post
  const std::lock_guard lock(mutex_);
  backend_ = nullptr;
  posts_.swap(dropped);
}

}  // namespace skua::loop
