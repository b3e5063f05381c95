// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include "skua/config.hpp"

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/mistakes.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua {

/// Suspends the task for a while.
///
/// Waits for: at least `time`, and up to a few milliseconds more.
SKUA_API Task<> sleep(Duration time);
template <detail::Number T>
Task<> sleep(T) {
  detail::need_unit<T>();
  return sleep(Duration());
}

/// Lets every other task that is ready on this thread run first.
SKUA_API detail::YieldAwaiter yield() noexcept;

/// An event that any number of tasks of one thread can await.
class Event final {
 public:
  /// Resumes all waiters at the end of the turn, and lets later ones through until reset().
  ///
  /// Ends with: std::logic_error if tasks of another thread wait. Set it on that thread, in a call
  ///            of Loop::post(), or let these tasks await the result of offload() instead of the
  ///            event.
  void set() {
    waiters_.need(other_thread);
    is_set_ = true;
    waiters_.wake_all();
  }
  void reset() noexcept { is_set_ = false; }
  [[nodiscard]] bool is_set() const noexcept { return is_set_; }

  class Awaiter {
   public:
    explicit Awaiter(Event& event) noexcept : event_(&event) {}
    [[nodiscard]] bool await_ready() const noexcept { return event_->is_set_; }
    void await_suspend(std::coroutine_handle<> caller) {
      event_->waiters_.park(waiter_, caller, other_thread);
    }
    static void await_resume() noexcept {}

   private:
    Event* event_;
    detail::Waiter waiter_;
  };
  /// Waits for: set().
  [[nodiscard]] Awaiter wait() noexcept { return Awaiter(*this); }

 private:
  static constexpr const char* other_thread =
      "skua::Event: its tasks wait on another thread: set it there, in a call of Loop::post(), or "
      "co_await skua::offload() instead of the event";

  detail::OwnWaiters waiters_;
  bool is_set_ = false;
};

/// A bounded queue between tasks of one thread; the faster side waits.
///
/// Ends with: std::logic_error, from all of its functions that send, receive or close, if tasks of
///            another thread wait.
template <class T>
class Channel final {
 public:
  /// Holds up to `capacity` values that were not received yet; at least one.
  explicit Channel(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  /// Sends a value. Returns false if the channel is closed.
  ///
  /// Waits for: room.
  Task<bool> send(T value) {
    while (queue_.size() >= capacity_ && !is_closed_) co_await room_.wait(other_thread);
    if (is_closed_) co_return false;
    filled_.need(other_thread);
    queue_.push_back(std::move(value));
    filled_.wake_all();
    co_return true;
  }
  /// Sends a value if there is room. Returns false if the channel is full or closed.
  bool try_send(T value) {
    filled_.need(other_thread);
    if (is_closed_ || queue_.size() >= capacity_) return false;
    queue_.push_back(std::move(value));
    filled_.wake_all();
    return true;
  }
  /// Receives a value. Returns nullopt if the channel is closed and empty.
  ///
  /// Waits for: a value.
  Task<std::optional<T>> receive() {
    while (queue_.empty() && !is_closed_) co_await filled_.wait(other_thread);
    if (queue_.empty()) co_return std::nullopt;
    room_.need(other_thread);
    std::optional<T> value(std::move(queue_.front()));
    queue_.pop_front();
    room_.wake_all();
    co_return value;
  }
  /// Refuses further values; queued ones can still be received.
  void close() {
    room_.need(other_thread);
    filled_.need(other_thread);
    is_closed_ = true;
    room_.wake_all();
    filled_.wake_all();
  }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

 private:
  static constexpr const char* other_thread =
      "skua::Channel: a task waits for it on another thread: use it there, in a call of "
      "Loop::post(), or co_await skua::offload() instead of the channel";

  std::deque<T> queue_;
  detail::OwnWaiters room_;
  detail::OwnWaiters filled_;
  std::size_t capacity_;
  bool is_closed_ = false;
};

/// Tasks that run alongside the owner of the scope, and end with it.
///
/// ```cpp
/// skua::Scope scope;
/// scope.spawn(ticker(out));
/// co_await work();  // the ticker ticks meanwhile, and is dropped with the scope
/// ```
class SKUA_API Scope final {
 public:
  Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  /// Drops the tasks that have not ended.
  ~Scope();

  /// Starts a task inline.
  void spawn(Task<> task);
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Task<>>)
  void spawn(T&&) {
    static_assert(detail::never<T>,
                  "a scope runs tasks without a value, skua::Task<>: call the coroutine, as in "
                  "scope.spawn(work())");
  }
  /// Waits for: all tasks to end.
  /// Ends with: the first exception thrown by a task.
  Task<> join();
  /// The number of tasks that have not ended.
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Child;
  static void child_done(void* child) noexcept;
  void reap();

  std::unique_ptr<Child> first_;
  std::size_t running_ = 0;
  std::exception_ptr exception_{};
  detail::WaiterList joiners_;
};

namespace detail {

/// Counts the tasks that have not ended.
class Countdown {
 public:
  template <class T>
  void start(Task<T>& task) {
    ++left_;
    task.start([](void* self) noexcept { static_cast<Countdown*>(self)->end_one(); }, this);
    if (task.is_done()) --left_;
  }
  [[nodiscard]] bool is_over() const noexcept { return left_ == 0; }
  [[nodiscard]] WaiterList::Awaiter wait() noexcept { return waiters_.wait(); }

 private:
  void end_one() noexcept {
    if (--left_ == 0) waiters_.wake_all();
  }

  WaiterList waiters_;
  std::size_t left_ = 0;
};

template <class T>
using OrNothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
OrNothing<T> take_result(Task<T>& task) {
  if constexpr (std::is_void_v<T>) {
    task.result();
    return {};
  } else {
    return task.result();
  }
}

}  // namespace detail

/// Runs tasks concurrently and returns all their results in the same order, with std::monostate for
/// void.
///
/// Ends with: the exception of the first task, in that order, that threw.
template <class... T>
Task<std::tuple<detail::OrNothing<T>...>> when_all(Task<T>... tasks) {
  detail::Countdown countdown;
  (countdown.start(tasks), ...);
  while (!countdown.is_over()) co_await countdown.wait();
  std::tuple<detail::OrNothing<T>...> results{detail::take_result(tasks)...};
  co_return results;
}
/// Runs any number of tasks concurrently, like the other form.
template <class T>
Task<std::vector<detail::OrNothing<T>>> when_all(std::vector<Task<T>> tasks) {
  detail::Countdown countdown;
  for (Task<T>& task : tasks) countdown.start(task);
  while (!countdown.is_over()) co_await countdown.wait();
  std::vector<detail::OrNothing<T>> results;
  results.reserve(tasks.size());
  for (Task<T>& task : tasks) results.push_back(detail::take_result(task));
  co_return results;
}

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;
template <class T>
inline constexpr bool is_task<std::vector<Task<T>>> = true;

}  // namespace detail

template <class... T>
  requires(!(detail::is_task<std::remove_cvref_t<T>> && ...))
auto when_all(T&&...) {
  static_assert(detail::never<T...>,
                "when_all() takes tasks: call the coroutines, and write client.get(url).send() for "
                "a request");
  return sleep(Duration());
}

class Lane;

namespace detail {

/// A call that a pool thread makes for a task.
class SKUA_API OffloadedCall {
 public:
  virtual ~OffloadedCall() = default;
  virtual void run() noexcept = 0;
  Waiter* waiter = nullptr;             // touched by the loop's thread only
  std::atomic<bool> is_dropped{false};  // the waiting task is gone
};

template <class F>
class OffloadedFunction final : public OffloadedCall {
 public:
  using R = std::invoke_result_t<F&>;
  explicit OffloadedFunction(F&& function) : function_(std::move(function)) {}

  void run() noexcept override {
    try {
      if constexpr (std::is_void_v<R>) {
        function_();
      } else {
        value_.emplace(function_());
      }
    } catch (...) {
      exception_ = std::current_exception();
    }
  }
  R take() {
    if (exception_) std::rethrow_exception(exception_);
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it ran and did not throw
    if constexpr (!std::is_void_v<R>) return *std::move(value_);
  }

 private:
  F function_;
  std::optional<OrNothing<R>> value_{};
  std::exception_ptr exception_{};
};

class SKUA_API OffloadAwaiter {
 public:
  /// Without a lane, the call goes to the threads of the current loop.
  OffloadAwaiter(std::shared_ptr<OffloadedCall> call, const Lane* lane) noexcept
      : call_(std::move(call)), lane_(lane) {}
  OffloadAwaiter(const OffloadAwaiter&) = delete;
  OffloadAwaiter& operator=(const OffloadAwaiter&) = delete;
  ~OffloadAwaiter() {
    call_->waiter = nullptr;
    call_->is_dropped.store(true, std::memory_order_relaxed);
  }
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller);
  static void await_resume() noexcept {}

 private:
  std::shared_ptr<OffloadedCall> call_;
  const Lane* lane_;
  Waiter waiter_;
};

template <class F>
Task<std::invoke_result_t<F&>> offload_kept(F function, const Lane* lane) {
  const auto call = std::make_shared<OffloadedFunction<F>>(std::move(function));
  OffloadAwaiter done(call, lane);  // NOLINT(misc-const-correctness): it is parked
  co_await done;
  co_return call->take();
}

}  // namespace detail

/// Calls a blocking or CPU-bound function on another thread and returns its result.
///
/// The threads and their queue are bounded (ServerOptions::offload_threads, offload_queue). If the
/// waiting task is dropped, a call that has begun runs to its end and its result is discarded; one
/// that has not begun is not made.
///
/// Ends with: what the function throws; Exception(Errc::Overloaded), which a server answers with
///            503, if the queue is full.
template <class F>
Task<std::invoke_result_t<std::decay_t<F>&>> offload(F&& function) {
  static_assert(!detail::is_task<std::invoke_result_t<std::decay_t<F>&>>,
                "a coroutine cannot be offloaded: co_await it, and offload the blocking calls in "
                "it");
  static_assert(SafeInAwait<F>,
                "store a closure with captures in a variable before passing it to offload(): "
                "GCC 12 destroys a temporary one twice");
  return detail::offload_kept<std::decay_t<F>>(std::forward<F>(function), nullptr);
}
template <class F, class... A>
  requires(sizeof...(A) != 0 || !std::is_invocable_v<std::decay_t<F>&>)
auto offload(F&&, A&&...) {
  static_assert(detail::never<F>,
                "offload() takes a function without parameters: name a closure that makes the "
                "call, as in `const auto call = [&] { return work(n); };`");
  return sleep(Duration());
}

class Loop;

namespace detail {

struct SKUA_API LoopDeleter {
  void operator()(Loop* loop) const noexcept;
};
/// Ends with: Exception if the machine has no back end for a loop.
SKUA_API std::unique_ptr<Loop, LoopDeleter> make_loop();
/// Runs turns until the task is done.
SKUA_API void drive(Loop& loop, bool (*is_done)(const void* task) noexcept,
                    void (*start)(void* task), void* task);

}  // namespace detail

/// Runs a task to completion on this thread, on a loop of its own; for programs and tests without a
/// server.
///
/// Ends with: what the task throws; Exception if the machine has no back end for a loop;
///            std::logic_error in a handler, callback or task, whose loop would stand still.
template <class T>
T run(Task<T> task) {
  const auto loop = detail::make_loop();
  Task<T> running = std::move(task);  // gone before its loop
  detail::drive(
      *loop, [](const void* it) noexcept { return static_cast<const Task<T>*>(it)->is_done(); },
      [](void* it) { static_cast<Task<T>*>(it)->start(nullptr, nullptr); }, &running);
  return running.result();
}
template <class T>
  requires(!detail::is_task<std::remove_cvref_t<T>>)
auto run(T&&) {
  static_assert(detail::never<T>,
                "skua::run() takes a task: call the coroutine, as in skua::run(work()), and write "
                "client.get(url).send() for a request");
}

}  // namespace skua
