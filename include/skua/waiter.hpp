// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <coroutine>

#include "skua/config.hpp"

namespace skua::detail {

class WaiterList;

/// The thread that an object belongs to.
class SKUA_API OwnThread final {
 public:
  OwnThread() noexcept : id_(here()) {}
  [[nodiscard]] bool is_here() const noexcept { return id_ == here(); }
  /// Ends with: std::logic_error with this text on any other thread.
  void need(const char* text) const {
    if (!is_here()) [[unlikely]]
      refuse(text);
  }

 private:
  static const void* here() noexcept;
  [[noreturn]] static void refuse(const char* text);

  const void* id_;
};

/// A waiting coroutine: a list node, embedded in the awaitable.
///
/// Lifetime:  if it is destroyed while it waits, it leaves the list and resumes nothing.
class SKUA_API Waiter final {
 public:
  Waiter() noexcept = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter() { unlink(); }

  /// Suspends a coroutine until wake().
  ///
  /// Ends with: std::logic_error on a thread that has no loop: see skua::run.
  void park(std::coroutine_handle<> caller);
  [[nodiscard]] bool is_parked() const noexcept { return caller_ != nullptr; }
  /// Resumes the coroutine, if one waits, at the end of this turn of its loop.
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

/// The coroutines that wait for the same event, in FIFO order.
class SKUA_API WaiterList final {
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

  /// Sets this thread's list of woken waiters (null: it has no loop) and returns the previous one.
  static WaiterList* exchange_ready(WaiterList* list) noexcept;
  /// Resumes all waiters that are in the list now; later ones stay for the next call.
  void resume_all();

 private:
  friend class Waiter;
  Waiter head_;
};

/// The tasks of one thread that wait for something that the same thread brings about. Other threads
/// could not wake their loop.
class OwnWaiters final {
 public:
  /// Suspends a task; throws std::logic_error with this text if others wait on another thread.
  void park(Waiter& waiter, std::coroutine_handle<> caller, const char* text) {
    need(text);
    thread_ = OwnThread();
    list_.park(waiter, caller);
  }
  /// Ends with: std::logic_error with this text if tasks of another thread wait.
  void need(const char* text) const {
    if (!list_.empty()) thread_.need(text);
  }
  void wake_all() noexcept { list_.wake_all(); }

  class Awaiter {
   public:
    Awaiter(OwnWaiters& waiters, const char* text) noexcept : waiters_(&waiters), text_(text) {}
    static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) { waiters_->park(waiter_, caller, text_); }
    static void await_resume() noexcept {}

   private:
    OwnWaiters* waiters_;
    const char* text_;
    Waiter waiter_;
  };
  [[nodiscard]] Awaiter wait(const char* text) noexcept { return {*this, text}; }

 private:
  WaiterList list_;
  OwnThread thread_;
};

/// Resumes at the end of the turn.
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
