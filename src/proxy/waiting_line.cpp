// SPDX-License-Identifier: MIT
// In: requests that may not go on yet, and the ends of others. Out: a call to the first that waits,
// on the loop that it waits on.
#include "proxy/waiting_line.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace skua::proxy {

struct WaitingLine::Place::Waiting {
  std::shared_ptr<loop::Mailbox> mailbox;
  std::uint64_t number = 0;            // in the order of arrival
  skua::detail::WaiterList changed{};  // only the loop's thread uses this, and the next
  bool is_called = false;
};

WaitingLine::Place::Place(WaitingLine& line, loop::Loop& loop)
    : line_(line), waiting_(std::make_shared<Waiting>(loop.mailbox())) {
  const std::lock_guard lock(line_.mutex_);
  if (line_.queue_.size() >= line_.most_) return;
  is_alone_ = line_.queue_.empty();
  waiting_->number = ++line_.last_number_;
  line_.queue_.emplace(waiting_->number, waiting_);
  line_.size_.store(line_.queue_.size());
  has_entered_ = true;
}

WaitingLine::Place::~Place() {
  if (!has_entered_) return;
  {
    const std::lock_guard lock(line_.mutex_);
    const auto own = line_.queue_.find(waiting_->number);
    if (own != line_.queue_.end()) {
      const bool was_first = own == line_.queue_.begin();
      line_.queue_.erase(own);
      line_.size_.store(line_.queue_.size());
      if (!was_first) return;
    }
  }
  line_.call_first();
}

bool WaitingLine::Place::is_called() const noexcept { return waiting_->is_called; }

skua::detail::WaiterList& WaitingLine::Place::changed() noexcept { return waiting_->changed; }

bool WaitingLine::Place::is_first() const {
  const std::lock_guard lock(line_.mutex_);
  return !line_.queue_.empty() && line_.queue_.begin()->second == waiting_;
}

void WaitingLine::Place::stand_again() {
  waiting_->is_called = false;
  const std::lock_guard lock(line_.mutex_);
  line_.queue_.emplace(waiting_->number, waiting_);
  line_.size_.store(line_.queue_.size());
}

bool WaitingLine::call_one() noexcept try {
  WaitingPointer first;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return false;
    first = std::move(queue_.begin()->second);
    queue_.erase(queue_.begin());
    size_.store(queue_.size());
  }
  // A loop that is gone has dropped the place, or is about to, which calls the next.
  loop::Mailbox& mailbox = *first->mailbox;
  mailbox.post([first] {
    first->is_called = true;
    first->changed.wake_all();
  });
  return true;
} catch (const std::bad_alloc&) {  // it waits until its time is up
  return false;
}

void WaitingLine::call_first() noexcept {
  if (size_.load() != 0) static_cast<void>(call_one());
}

void WaitingLine::call_all() noexcept {
  for (std::size_t left = size_.load(); left != 0; --left) {
    if (!call_one()) return;
  }
}

}  // namespace skua::proxy
