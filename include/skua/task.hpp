// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <coroutine>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"

namespace skua {

template <class T = void>
class Task;

namespace detail {

/// The part of a task's frame that resumes or notifies its owner when it ends.
class PromiseBase {
 public:
  using Callback = void (*)(void* context) noexcept;

  struct FinalAwaiter {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    static std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      const PromiseBase& promise = ended.promise();
      if (promise.continuation_) return promise.continuation_;
      // Last, as the callback may arrange for the frame to be destroyed.
      if (promise.on_done_ != nullptr) promise.on_done_(promise.context_);
      return std::noop_coroutine();
    }
    static void await_resume() noexcept {}
  };

  static std::suspend_always initial_suspend() noexcept { return {}; }
  static FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

 protected:
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  template <class T>
  friend class skua::Task;

  std::coroutine_handle<> continuation_{};
  Callback on_done_ = nullptr;
  void* context_ = nullptr;
  std::exception_ptr exception_{};
};

template <class T>
class Promise : public PromiseBase {
 public:
  template <class U = T>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  template <class U>
    requires(!std::is_constructible_v<T, U &&>)
  void return_value(U&&) {
    static_assert(
        never<U>,
        "co_return needs a value of the task's type: for a Result, test it, then co_return "
        "*result");
  }

  T take() {
    rethrow();
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has ended without throwing
    return *std::move(value_);
  }

 private:
  std::optional<T> value_{};
};

/// Whether V is what can be read from an R that is a Result.
template <class V, class R>
inline constexpr bool is_value_of = false;
template <class V, class R>
  requires requires { typename R::error_type; }
inline constexpr bool is_value_of<V, R> = std::is_same_v<V, typename R::value_type>;

template <class T>
constexpr auto need_await() {
  static_assert(
      never<T>,
      "a task has a value only after it was awaited: write co_await before the call, or give "
      "the task to skua::run()");
}

template <>
class Promise<void> : public PromiseBase {
 public:
  void return_void() noexcept {}
  void take() const { rethrow(); }
};

}  // namespace detail

/// A lazy coroutine that ends with a T or an exception.
///
/// `co_await` starts it inline, so a task that ends without waiting never suspends its awaiter. A
/// task is awaited once. Everything that it waits for happens on the thread that started it.
///
/// Lifetime:  dropping a task cancels it: its frame and all that it owns are destroyed where it
///            waits, and so are the tasks that it awaits. Only its owner drops a task.
template <class T>
class [[nodiscard(
    "a task does nothing until it is awaited: co_await it, or give it to skua::run() or "
    "Scope::spawn()")]] Task {
 public:
  using value_type = T;
  struct promise_type : detail::Promise<T> {
    Task get_return_object() noexcept {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(const Task&) = delete;  // a task has one owner: std::move(task)
  Task& operator=(const Task&) = delete;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this == &other) return *this;
    if (handle_) handle_.destroy();
    handle_ = std::exchange(other.handle_, {});
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() {
    handle_.resume();
    return handle_.done();
  }
  void await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().continuation_ = caller;
  }
  T await_resume() { return handle_.promise().take(); }

  // For callers that are not coroutines.

  /// Starts the task. `on_done` is called when the task ends, from inside its last step, so it must
  /// not destroy the task yet. It is not called if the task has ended when start() returns.
  void start(detail::PromiseBase::Callback on_done, void* context) {
    handle_.resume();
    if (handle_.done()) return;
    handle_.promise().on_done_ = on_done;
    handle_.promise().context_ = context;
  }
  [[nodiscard]] bool is_done() const noexcept { return handle_.done(); }
  /// Returns the result or throws the task's exception. Once, after it is done.
  T result() { return handle_.promise().take(); }

  // Mistakes: a task that is used as its value.

  template <class U>
    requires(std::is_same_v<U, T> || detail::is_value_of<U, T> ||
             (std::is_same_v<U, std::string_view> &&
              (std::is_same_v<T, std::string> || detail::is_value_of<std::string, T>)))
  operator U() const {
    detail::need_await<U>();
    std::terminate();
  }
  template <class Self = Task>
    requires(!std::is_same_v<T, bool>)
  explicit operator bool() const {
    detail::need_await<Self>();
    return false;
  }
  // These deduce their type, so that the message comes before any about what they return.
  template <class Self = Task>
  auto operator*() const {
    return detail::need_await<Self>();
  }
  template <class Self = Task>
  auto operator->() const {
    detail::need_await<Self>();
    return this;
  }
  template <class Self = Task>
  auto value() const {
    return detail::need_await<Self>();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

/// A function that may be passed to an awaitable as a temporary.
///
/// GCC 12 copies the captures of a closure bitwise if the closure is a temporary inside a
/// `co_await` expression: a double free. So such a function must be a named variable, or capture
/// only trivially copyable values.
template <class F>
concept SafeInAwait =
    std::is_lvalue_reference_v<F> || std::is_trivially_copyable_v<std::remove_cvref_t<F>>;

}  // namespace skua
