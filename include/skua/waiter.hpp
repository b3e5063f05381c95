// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>

namespace skua::detail {

class WaiterList;

/// The place where a coroutine waits: a node of a list, embedded in what the coroutine awaits.
///
/// Lifetime:  destroyed while it waits, it leaves the list, and the coroutine is not resumed.
class Waiter final {
 public:
  Waiter() noexcept = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() { unlink(); }

  /// Waits on nothing but wake().
  ///
  /// Ends with: std::logic_error on a thread that has no loop: see skua::run.
  void park(std::coroutine_handle<> caller);
  [[nodiscard]] bool is_parked() const noexcept { return caller_ != nullptr; }
  /// Resumes the coroutine at the end of this turn of its loop; nothing where none waits.
  void wake() noexcept;

 private:
  friend class WaiterList;

  void unlink() noexcept {
    if (next_ == nullptr) return;
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }
  void link_before(Waiter& node) noexcept {
    next_ = &node;
    previous_ = node.previous_;
    previous_->next_ = this;
    node.previous_ = this;
  }

  std::coroutine_handle<> caller_{};
  WaiterList* ready_ = nullptr;  // of the loop that resumes it
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
};

/// Those who wait for the same thing, in the order of their coming.
class WaiterList final {
 public:
  WaiterList() noexcept { head_.next_ = head_.previous_ = &head_; }
  WaiterList(const WaiterList&) = delete;
  WaiterList& operator=(const WaiterList&) = delete;
  ~WaiterList() {
    while (!empty()) head_.next_->unlink();
    head_.next_ = head_.previous_ = nullptr;
  }

  [[nodiscard]] bool empty() const noexcept { return head_.next_ == &head_; }
  void park(Waiter& waiter, std::coroutine_handle<> caller) {
    waiter.park(caller);
    waiter.link_before(head_);
  }
  void wake_all() noexcept {
    while (!empty()) head_.next_->wake();
  }

  class Awaiter {
   public:
    explicit Awaiter(WaiterList& list) noexcept : list_(&list) {}
    static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) { list_->park(waiter_, caller); }
    static void await_resume() noexcept {}

   private:
    WaiterList* list_;
    Waiter waiter_;
  };
  [[nodiscard]] Awaiter wait() noexcept { return Awaiter(*this); }

  // For loops.

  /// Where the waiters of this thread go when they are woken; null: this thread has no loop.
  static WaiterList* exchange_ready(WaiterList* list) noexcept;
  /// Resumes all that are in the list now; those that come meanwhile stay for the next call.
  void resume_all();

 private:
  friend class Waiter;
  Waiter head_;
};

/// Goes on at the end of the turn.
class YieldAwaiter {
 public:
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    waiter_.park(caller);
    waiter_.wake();
  }
  static void await_resume() noexcept {}

 private:
  Waiter waiter_;
};

}  // namespace skua::detail
