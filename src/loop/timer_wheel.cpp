// SPDX-License-Identifier: MIT
// In: timers with deadlines, and the time. Out: the callbacks of due timers, in order.
//
//   tick   ...|level 2: 6 bits|level 1: 6 bits|level 0: 6 bits|
//
// A timer lies on the level of the highest bit in which its tick differs from the current one,
// in the slot given by its own bits of that level. When the time reaches a slot of a higher
// level, its timers move down. So timers on a level are due before all timers on higher levels.
// Stopping a timer, or moving it to a later time, only changes the timer: the wheel notices when
// it visits the slot. A connection that restarts its deadline per request pays two stores.
#include "loop/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace skua::loop {

void TimerNode::link(TimerNode*& head) noexcept {
  next_ = head;
  if (next_ != nullptr) next_->link_ = &next_;
  link_ = &head;
  head = this;
}

void TimerNode::unlink() noexcept {
  if (link_ == nullptr) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  link_ = nullptr;
}

void TimerWheel::start(TimerNode& timer, Duration delay) noexcept {
  timer.deadline_ = ticks_up(delay);
  if (timer.link_ != nullptr) {
    if (timer.visit_ <= timer.deadline_) return;
    timer.unlink();
  }
  if (timer.deadline_ <= target_) {  // in the wheel it would fire again in this advance
    timer.visit_ = timer.deadline_;
    timer.link(due_);
  } else {
    insert(timer);
  }
}

TimerWheel::~TimerWheel() {
  const auto drop = [](TimerNode* head) {
    while (head != nullptr) {
      TimerNode* const timer = head;
      head = timer->next_;
      timer->link_ = nullptr;
      timer->deadline_ = TimerNode::never;
    }
  };
  for (const Level& level : levels_) std::for_each(level.slots.begin(), level.slots.end(), drop);
  drop(due_);
}

void TimerWheel::refresh() noexcept {
  now_ = clock_.now();
  is_stale_ = false;
}

std::uint64_t TimerWheel::ticks_up(Duration delay) noexcept {
  const Duration since_origin = now() - origin_;
  const Duration at =
      delay < Duration::max() - since_origin ? since_origin + delay : Duration::max();
  const Duration positive = std::max(at, Duration::zero());
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(positive).count());
}

void TimerWheel::insert(TimerNode& timer) noexcept {
  timer.visit_ = std::min(timer.deadline_, last_tick);
  const auto highest = static_cast<unsigned>(std::bit_width(timer.visit_ ^ tick_)) - 1;
  const unsigned at = highest / level_bits;
  const std::size_t index = (timer.visit_ >> (at * level_bits)) % slot_count;
  Level& level = levels_[at];
  level.occupied |= std::uint64_t{1} << index;
  timer.link(level.slots[index]);
}

std::optional<TimerWheel::Slot> TimerWheel::next_slot() const noexcept {
  for (unsigned at = 0; at < level_count; ++at) {
    if (levels_[at].occupied == 0) continue;
    const auto index = static_cast<unsigned>(std::countr_zero(levels_[at].occupied));
    const unsigned shift = at * level_bits;
    const std::uint64_t above = tick_ >> (shift + level_bits) << (shift + level_bits);
    return Slot{above | (std::uint64_t{index} << shift), at, index};
  }
  return std::nullopt;
}

std::optional<Duration> TimerWheel::time_to_next() noexcept {
  if (due_ != nullptr) return Duration::zero();
  const std::optional<Slot> slot = next_slot();
  if (!slot) return std::nullopt;
  const Duration at = std::chrono::milliseconds(slot->tick);
  return std::max<Duration>(at - (now() - origin_), Duration::zero());
}

void TimerWheel::advance() noexcept {
  target_ = static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::milliseconds>(now() - origin_).count());
  if (due_ != nullptr) visit(due_);
  while (const std::optional<Slot> slot = next_slot()) {
    if (slot->tick > target_) break;
    Level& level = levels_[slot->level];
    level.occupied &= ~(std::uint64_t{1} << slot->index);
    tick_ = slot->tick;
    visit(level.slots[slot->index]);
  }
  tick_ = target_;
}

/// Fires, moves or drops the timers of a list. They move to a list of their own first, because
/// callbacks may add to the slot, and destroy timers in either list.
void TimerWheel::visit(TimerNode*& head) noexcept {
  while (head != nullptr) {  // moving each to the front reverses the list: first in, first out
    TimerNode& timer = *head;
    timer.unlink();
    timer.link(work_);
  }
  while (work_ != nullptr) {
    TimerNode& timer = *work_;
    timer.unlink();
    if (!timer.is_running()) continue;
    if (timer.deadline_ > tick_) {
      insert(timer);
      continue;
    }
    timer.deadline_ = TimerNode::never;
    timer.callback_(&timer);
  }
}

}  // namespace skua::loop
