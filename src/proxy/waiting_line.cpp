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
  std::uint64_t number = 0;  // in the order of arrival
  bool is_retry = false;
  skua::detail::WaiterList changed{};  // only the loop's thread uses this, and the next
  bool is_called = false;
};

WaitingLine::Place::Place(WaitingLine& line, loop::Loop& loop, bool is_retry)
    : line_(line), waiting_(std::make_shared<Waiting>(loop.mailbox())) {
  waiting_->is_retry = is_retry;
  const std::lock_guard lock(line_.mutex_);
  if (line_.queue_.size() >= line_.most_) return;
  is_alone_ = line_.firsts_.empty();
  waiting_->number = ++line_.last_number_;
  line_.enter(waiting_);
  has_entered_ = true;
}

WaitingLine::Place::~Place() {
  if (!has_entered_) return;
  {
    const std::lock_guard lock(line_.mutex_);
    const auto own = line_.queue_.find(waiting_->number);
    if (own != line_.queue_.end()) {
      const bool was_first = line_.is_first(waiting_->number);
      line_.leave(own);
      if (!was_first) return;
    }
  }
  line_.call_first();
}

bool WaitingLine::Place::is_called() const noexcept { return waiting_->is_called; }

skua::detail::WaiterList& WaitingLine::Place::changed() noexcept { return waiting_->changed; }

bool WaitingLine::Place::is_first() const {
  const std::lock_guard lock(line_.mutex_);
  return line_.queue_.contains(waiting_->number) && line_.is_first(waiting_->number);
}

bool WaitingLine::is_first(std::uint64_t number) const {
  return firsts_.empty() || number <= *firsts_.begin();
}

void WaitingLine::Place::stand_again() {
  waiting_->is_called = false;
  {
    const std::lock_guard lock(line_.mutex_);
    line_.enter(waiting_);
  }
  if (waiting_->is_retry) static_cast<void>(line_.call_one(waiting_->number));
}

bool WaitingLine::has_first() const {
  if (size() == 0) return false;
  const std::lock_guard lock(mutex_);
  return !firsts_.empty();
}

void WaitingLine::enter(const WaitingPointer& waiting) {
  queue_.emplace(waiting->number, waiting);
  if (!waiting->is_retry) firsts_.insert(waiting->number);
  size_.store(queue_.size());
}

void WaitingLine::leave(Queue::iterator place) noexcept {
  firsts_.erase(place->first);
  queue_.erase(place);
  size_.store(queue_.size());
}

bool WaitingLine::call_one(std::uint64_t after) noexcept try {
  WaitingPointer first;
  {
    const std::lock_guard lock(mutex_);
    const auto place = queue_.upper_bound(after);
    if (place == queue_.end()) return false;
    first = place->second;
    leave(place);
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
