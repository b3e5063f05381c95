// SPDX-License-Identifier: MIT
// In: descriptors, deadlines, calls from other threads. Out: callbacks, one at a time.
// Deferred calls run last in a turn, so that work that the others leave for its end (a flush, a
// destruction) happens once.
#include "loop/loop.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace skua::loop {

void Deferred::insert_before(Deferred& node) noexcept {
  next_ = &node;
  previous_ = node.previous_;
  previous_->next_ = this;
  node.previous_ = this;
}

void Deferred::cancel() noexcept {
  if (next_ == nullptr) return;
  next_->previous_ = previous_;
  previous_->next_ = next_;
  next_ = previous_ = nullptr;
}

void Loop::turn(Duration max_wait) {
  if (measures_waits_) note_wait();
  backend_->turn(time_to_wait(max_wait));
  timers_.advance();
  if (mailbox_->has_posts()) run_posts();
  if (!ready_.empty()) ready_.resume_all();
  if (deferred_.next_ != &deferred_) run_deferred();
  if (turn_ends_ != &after_last_) run_turn_ends();
  if (backend_->taken_bytes() >= trims_at_bytes_) [[unlikely]]
    trim_later();
  if (tell_turn_ != nullptr) tell_turn_(turn_context_, exact_now() - now());
}

void Loop::note_wait() noexcept {
  wait_began_ = exact_now();
  busy_ = wait_began_ - timers_.now();
}

Duration Loop::time_to_wait(Duration max_wait) noexcept {
  // Work that is already queued; an earlier turn may have used up its wake-up.
  const bool has_work = deferred_.next_ != &deferred_ || turn_ends_ != &after_last_ ||
                        !ready_.empty() || mailbox_->has_posts();
  timers_.forget_now();  // the callbacks of the last turn may have taken long
  const std::optional<Duration> to_next = has_work ? Duration::zero() : timers_.time_to_next();
  timers_.forget_now();  // and so may the wait that follows
  // A manual clock stands still while the loop sleeps; advancing it requires a wake().
  if (!to_next || (*to_next > Duration::zero() && !clock_.passes_by_itself())) return max_wait;
  return max_wait < Duration::zero() ? *to_next : std::min(max_wait, *to_next);
}

void Loop::run_posts() {
  mailbox_->swap(running_posts_);
  for (const auto& task : running_posts_) task();
  running_posts_.clear();
}

void Loop::defer(Deferred& call) noexcept {
  if (!call.is_pending()) call.insert_before(deferred_);
}

void Loop::run_deferred() noexcept {
  // Calls deferred from here on belong to the next turn, so the ring moves to another head.
  Deferred& batch = running_deferred_;
  batch.next_ = std::exchange(deferred_.next_, &deferred_);
  batch.previous_ = std::exchange(deferred_.previous_, &deferred_);
  batch.next_->previous_ = batch.previous_->next_ = &batch;
  while (batch.next_ != &batch) {
    Deferred& call = *batch.next_;
    call.cancel();
    call.callback_(call.context_);
  }
}

void Loop::run_turn_ends() noexcept {
  running_turn_ends_ = std::exchange(turn_ends_, &after_last_);
  last_turn_end_ = &turn_ends_;
  while (running_turn_ends_ != &after_last_) {
    TurnEnd& owner = *running_turn_ends_;
    running_turn_ends_ = std::exchange(owner.next_, nullptr);
    turn_end_callback_(&owner);
  }
}

// A batch per turn.
void Mailbox::swap(std::vector<std::function<void()>>& empty) {
  const std::lock_guard lock(mutex_);
  posts_.swap(empty);
  has_posts_.store(false, std::memory_order_release);
}

}  // namespace skua::loop
