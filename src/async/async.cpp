// SPDX-License-Identifier: MIT
// In: tasks. Out: their completion and first exception. A task cannot be destroyed from inside its
// last step, so an ended one moves to the front of the list until the scope is next used; that
// walks over no task that runs. What it owned must not stay: another task destroys it, and then
// owns nothing.

#include <stdexcept>
#include <utility>

#include "skua/async.hpp"
#include "skua/waiter.hpp"

namespace skua {

struct Scope::Child {
  using Link = std::unique_ptr<Child>;

  Child(Scope& owner, Task<> started) : scope(owner), task(run(std::move(started))) {}
  static Task<> run(Task<> started) {
    // Parameters would live on after the end.
    Task<> running = std::move(started);  // NOLINT(misc-const-correctness): it runs
    co_await running;
  }
  static void insert(Link child, Link& list) noexcept {
    child->next = std::move(list);
    if (child->next) child->next->link = &child->next;
    child->link = &list;
    list = std::move(child);
  }
  static Link remove(Link& link) noexcept {
    Link removed = std::move(link);
    link = std::move(removed->next);
    if (link) link->link = &link;
    return removed;
  }

  Scope& scope;
  Task<> task;
  Link next{};
  Link* link = nullptr;  // what owns this child
  bool is_over = false;  // then only children that are over are before it
};

Scope::Scope() = default;

Scope::~Scope() {
  while (first_) Child::remove(first_);  // one by one, as the list would destroy itself recursively
}

void Scope::child_done(void* child) noexcept {
  Child& ended = *static_cast<Child*>(child);
  Scope& scope = ended.scope;
  ended.is_over = true;
  Child::insert(Child::remove(*ended.link), scope.first_);
  --scope.running_;
  scope.joiners_.wake_all();
}

void Scope::spawn(Task<> task) {
  reap();
  auto child = std::make_unique<Child>(*this, std::move(task));
  Child& started = *child;
  Child::insert(std::move(child), first_);
  ++running_;
  started.task.start(child_done, &started);
  if (started.task.is_done()) child_done(&started);
}

Task<> Scope::join() {
  reap();
  while (running_ != 0) {
    co_await joiners_.wait();
    reap();
  }
  if (exception_) std::rethrow_exception(std::exchange(exception_, {}));
}

std::size_t Scope::size() const noexcept { return running_; }

void Scope::reap() {
  while (first_ && first_->is_over) {
    try {
      first_->task.result();
    } catch (...) {
      if (!exception_) exception_ = std::current_exception();
    }
    Child::remove(first_);
  }
}

}  // namespace skua

// In: waiting coroutines, and wake-ups. Out: one resumption each, at the end of the turn and never
// from inside the waker, so that a waker is safe from whatever the resumed coroutine does.

namespace skua::detail {
namespace {

thread_local WaiterList* ready_of_this_thread = nullptr;

}  // namespace

const void* OwnThread::here() noexcept { return static_cast<const void*>(&ready_of_this_thread); }

void OwnThread::refuse(const char* text) { throw std::logic_error(text); }

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
