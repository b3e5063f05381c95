// SPDX-License-Identifier: MIT
// In: waiting coroutines, and wake-ups. Out: one resumption each, at the end of the turn and never
// from inside the waker, so that a waker is safe from whatever the resumed coroutine does.
#include "skua/waiter.hpp"

#include <stdexcept>
#include <utility>

namespace skua::detail {
namespace {

thread_local WaiterList* ready_of_this_thread = nullptr;

}  // namespace

void Waiter::park(std::coroutine_handle<> caller) {
  if (ready_of_this_thread == nullptr) {
    throw std::logic_error("a task waits on a thread without a loop: see skua::run");
  }
  ready_ = ready_of_this_thread;
  caller_ = caller;
}

void Waiter::wake() noexcept {
  if (!is_parked()) return;
  unlink();
  link_before(ready_->head_);
}

WaiterList* WaiterList::exchange_ready(WaiterList* list) noexcept {
  return std::exchange(ready_of_this_thread, list);
}

void WaiterList::resume_all() {
  WaiterList batch;
  if (empty()) return;
  batch.head_.next_ = std::exchange(head_.next_, &head_);
  batch.head_.previous_ = std::exchange(head_.previous_, &head_);
  batch.head_.next_->previous_ = batch.head_.previous_->next_ = &batch.head_;
  while (!batch.empty()) {
    Waiter& first = *batch.head_.next_;
    first.unlink();
    std::exchange(first.caller_, {}).resume();
  }
}

}  // namespace skua::detail
