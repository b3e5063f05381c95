// SPDX-License-Identifier: MIT
#pragma once

#include "skua/config.hpp"  // first: it names the C++ that the rest needs

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
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua {

/// Waits.
///
/// Waits for: the time; at least that long, and a few milliseconds more.
Task<> sleep(Duration time);

/// Lets everything else that is ready on this thread go on first.
detail::YieldAwaiter yield() noexcept;

/// Something that happens, awaited by any number of tasks of one thread.
class Event final {
 public:
  /// Lets all who wait go on, at the end of the turn, and all who come until reset().
  void set() noexcept {
    is_set_ = true;
    waiters_.wake_all();
  }
  void reset() noexcept { is_set_ = false; }
  [[nodiscard]] bool is_set() const noexcept { return is_set_; }

  class Awaiter {
   public:
    explicit Awaiter(Event& event) noexcept : event_(&event) {}
    [[nodiscard]] bool await_ready() const noexcept { return event_->is_set_; }
    void await_suspend(std::coroutine_handle<> caller) { event_->waiters_.park(waiter_, caller); }
    static void await_resume() noexcept {}

   private:
    Event* event_;
    detail::Waiter waiter_;
  };
  /// Waits for: set().
  [[nodiscard]] Awaiter wait() noexcept { return Awaiter(*this); }

 private:
  detail::WaiterList waiters_;
  bool is_set_ = false;
};

/// A queue between tasks of one thread that makes the faster side wait.
template <class T>
class Channel final {
 public:
  /// Holds up to `capacity` values that nobody has received; at least one.
  explicit Channel(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

  /// Sends a value. False when the channel is closed.
  ///
  /// Waits for: room.
  Task<bool> send(T value) {
    while (queue_.size() >= capacity_ && !is_closed_) co_await room_.wait();
    if (is_closed_) co_return false;
    queue_.push_back(std::move(value));
    filled_.wake_all();
    co_return true;
  }
  /// Sends if there is room. False when there is none, or the channel is closed.
  bool try_send(T value) {
    if (is_closed_ || queue_.size() >= capacity_) return false;
    queue_.push_back(std::move(value));
    filled_.wake_all();
    return true;
  }
  /// Receives a value; nothing when the channel is closed and empty.
  ///
  /// Waits for: a value.
  Task<std::optional<T>> receive() {
    while (queue_.empty() && !is_closed_) co_await filled_.wait();
    if (queue_.empty()) co_return std::nullopt;
    std::optional<T> value(std::move(queue_.front()));
    queue_.pop_front();
    room_.wake_all();
    co_return value;
  }
  /// No more values; those that are there can still be received.
  void close() noexcept {
    is_closed_ = true;
    room_.wake_all();
    filled_.wake_all();
  }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }

 private:
  std::deque<T> queue_;
  detail::WaiterList room_;
  detail::WaiterList filled_;
  std::size_t capacity_;
  bool is_closed_ = false;
};

/// Tasks that run beside the one that owns the scope, and end with it.
///
/// ```cpp
/// skua::Scope scope;
/// scope.spawn(ticker(out));
/// co_await work();          // the ticker ticks meanwhile
/// ```                       // and is dropped here
class Scope final {
 public:
  Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  /// Drops those that have not ended.
  ~Scope();

  /// Starts a task, inline.
  void spawn(Task<> task);
  /// Waits for: the end of all of them.
  /// Ends with: the first exception that one of them threw.
  Task<> join();
  /// How many have not ended.
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

/// Counts tasks that have not ended.
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

/// Runs tasks beside each other and waits for the end of all of them: their results in the same
/// order, std::monostate for none.
///
/// Ends with: what the first of them, in that order, has thrown.
template <class... T>
Task<std::tuple<detail::OrNothing<T>...>> when_all(Task<T>... tasks) {
  detail::Countdown countdown;
  (countdown.start(tasks), ...);
  while (!countdown.is_over()) co_await countdown.wait();
  std::tuple<detail::OrNothing<T>...> results{detail::take_result(tasks)...};
  co_return results;
}
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

/// A call that a thread of the pool makes for a task.
class OffloadedCall {
 public:
  virtual ~OffloadedCall() = default;
  virtual void run() noexcept = 0;
  Waiter* waiter = nullptr;             // who waits for it; only touched by the loop's thread
  std::atomic<bool> is_dropped{false};  // nobody waits any more
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
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it has run, and has thrown nothing
    if constexpr (!std::is_void_v<R>) return *std::move(value_);
  }

 private:
  F function_;
  std::optional<OrNothing<R>> value_{};
  std::exception_ptr exception_{};
};

class OffloadAwaiter {
 public:
  explicit OffloadAwaiter(std::shared_ptr<OffloadedCall> call) noexcept : call_(std::move(call)) {}
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
  Waiter waiter_;
};

template <class F>
Task<std::invoke_result_t<F&>> offload_kept(F function) {
  const auto call = std::make_shared<OffloadedFunction<F>>(std::move(function));
  OffloadAwaiter done(call);  // NOLINT(misc-const-correctness): it is parked
  co_await done;
  co_return call->take();
}

}  // namespace detail

/// Calls a function that blocks or computes on another thread, and waits for what it returns.
///
/// The threads and the queue before them are bounded (ServerOptions::offload_threads,
/// offload_queue). When the task that waits is dropped, a call that has begun still ends, and what
/// it returned is dropped; one that has not begun is not made.
///
/// Ends with: what the function throws; Exception(Errc::Overloaded), which a server answers with
///            503, when the queue is full.
template <class F>
Task<std::invoke_result_t<std::decay_t<F>&>> offload(F&& function) {
  static_assert(SafeInAwait<F>,
                "a closure with captures gets a name before it is passed to offload(): GCC 12 "
                "destroys a temporary one twice");
  return detail::offload_kept<std::decay_t<F>>(std::forward<F>(function));
}

namespace detail {
void drive(bool (*is_done)(const void* task) noexcept, void (*start)(void* task), void* task);
}  // namespace detail

/// Runs a task to its end on this thread, with a loop of its own: for programs and tests that have
/// no server.
///
/// Ends with: what the task throws; Exception where the machine has no back end for a loop.
template <class T>
T run(Task<T> task) {
  detail::drive([](const void* it) noexcept { return static_cast<const Task<T>*>(it)->is_done(); },
                [](void* it) { static_cast<Task<T>*>(it)->start(nullptr, nullptr); }, &task);
  return task.result();
}

}  // namespace skua
