// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "loop/backend.hpp"
#include "loop/clock.hpp"
#include "loop/timer_wheel.hpp"
#include "skua/attachments.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/waiter.hpp"

namespace skua::loop {

/// Tasks that other threads post to a loop. It may outlive the loop, and then rejects posts.
class Mailbox {
 public:
  explicit Mailbox(Backend& backend) noexcept : backend_(&backend) {}

  /// Runs `task` on the loop's thread, in the order of posting; one wake-up per batch. Any thread.
  /// Returns false if the loop is gone.
  bool post(std::function<void()> task);

  // For the loop.

  [[nodiscard]] bool has_posts() const noexcept {
    return has_posts_.load(std::memory_order_acquire);
  }
  void swap(std::vector<std::function<void()>>& empty);
  void close() noexcept;

 private:
  std::atomic<bool> has_posts_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> posts_;  // guarded by mutex_, like the next
  Backend* backend_;                          // null once the loop is gone
};

class Loop;
class WorkerPool;

/// A call at the end of a turn, embedded in its owner; see Loop::defer. This compact form is for
/// numerous owners: the callback gets the node.
class DeferredNode {
 public:
  explicit DeferredNode(Callback callback) noexcept : callback_(callback) {}
  DeferredNode(const DeferredNode&) = delete;
  DeferredNode& operator=(const DeferredNode&) = delete;
  ~DeferredNode() { cancel(); }

  [[nodiscard]] bool is_pending() const noexcept { return next_ != nullptr; }
  void cancel() noexcept;

 private:
  friend class Loop;
  DeferredNode() noexcept : DeferredNode(nullptr) { next_ = previous_ = this; }  // head of a ring
  void insert_before(DeferredNode& node) noexcept;

  Callback callback_;
  DeferredNode* next_ = nullptr;
  DeferredNode* previous_ = nullptr;
};

/// A DeferredNode with a context for its callback.
class Deferred final : public DeferredNode {
 public:
  Deferred(Callback callback, void* context) noexcept
      : DeferredNode(call), told_(callback), context_(context) {}

 private:
  static void call(void* node) noexcept {
    const auto& deferred = *static_cast<Deferred*>(static_cast<DeferredNode*>(node));
    deferred.told_(deferred.context_);
  }

  Callback told_;
  void* context_;
};

/// Options of a loop.
struct LoopOptions {
  BackendChoice backend = BackendChoice::Auto;  ///< The kind of back end.
  const Clock* clock = nullptr;                 ///< Null: the machine's. Must outlive the loop.
};

/// The event loop of a thread: descriptors, timers, deferred calls and posts of other threads.
///
/// A turn waits, calls the handles, fires the timers, runs the posts, resumes woken tasks, and
/// runs the deferred calls. Callbacks are noexcept by contract: a loop catches nothing, so an
/// escaping exception terminates. Only post, stop and wake may be called on other threads than
/// the one that runs the loop.
/// Lifetime: handles must have got on_closed, and timers and deferred calls must be destroyed or
///           idle, before the loop is destroyed.
class Loop {
 public:
  class Entered;

  /// Ends with: Unsupported if the machine lacks the back end; TooManyOpenFiles and the like.
  static Result<std::unique_ptr<Loop>> create(const LoopOptions& options = {});

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Calls on_closed on handles that are closing; drops posts and user timers that have not run.
  ~Loop();

  /// Runs turns until stop().
  void run();
  /// Makes the current run() return after its turn, or the next one at once. Any thread.
  void stop() noexcept;
  /// Runs one turn, which waits at most `max_wait` (negative: forever) for something to do.
  void run_once(Duration max_wait);
  /// Ends the wait of the current turn, or of the next one. Any thread, async-signal-safe.
  void wake() noexcept { backend_->wake(); }

  /// Runs `task` on the loop's thread, in the order of posting. Any thread; one wake-up per batch.
  void post(std::function<void()> task) { mailbox_->post(std::move(task)); }
  /// For posts of threads that may outlive the loop.
  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
  /// Runs `task` once, `delay` from now. It cannot be cancelled; use a Timer for that.
  void after(Duration delay, std::function<void()> task);
  /// Runs `call` once at the end of this turn; if called by a deferred call, at the end of the
  /// next turn, which then does not wait. A call that is already pending keeps its place.
  void defer(DeferredNode& call) noexcept;

  /// The time at which this turn began to handle events; the clock is read at most once a turn.
  [[nodiscard]] Instant now() noexcept { return timers_.now(); }
  /// Makes now() read the clock, unless a turn runs: between turns, any time may pass.
  void forget_now_between_turns() noexcept;
  /// The current time, to measure what happens within a turn.
  [[nodiscard]] Instant exact_now() const noexcept { return clock_.now(); }
  [[nodiscard]] TimerWheel& timers() noexcept { return timers_; }
  [[nodiscard]] Backend& backend() noexcept { return *backend_; }

  /// Returns how long the next turn may wait: zero if there is work, Duration::max() if only a
  /// descriptor or another thread can bring some.
  [[nodiscard]] Duration wait_limit() noexcept;

  /// The loop that runs a turn on this thread, or else the one that lives here.
  ///
  /// Ends with: std::logic_error if there is none.
  [[nodiscard]] static Loop& current();
  /// Makes the loop the current one of this thread between turns, too, until it is destroyed there.
  /// The newest of several loops is the current one.
  void live_here() noexcept;

  /// Calls a function of the user's. If it throws, the exception goes to the failure handler.
  template <class Call>
  void call_user(Call&& call) noexcept {
    try {
      std::forward<Call>(call)();
    } catch (...) {
      on_failure_(std::current_exception());
    }
  }
  /// Sets the handler of exceptions that leave the user's callbacks. The default terminates.
  void on_failure(std::function<void(std::exception_ptr)> handler) {
    on_failure_ = std::move(handler);
  }

  /// Values that belong to this loop's thread, by type: a client that handlers share, for example.
  /// They are destroyed first of all when the loop is, and may close streams then.
  [[nodiscard]] Attachments& attachments() noexcept { return attachments_; }

  /// Sets the pool of offload(); null at first. It must outlive the loop's turns.
  void use_pool(WorkerPool* pool) noexcept { pool_ = pool; }
  [[nodiscard]] WorkerPool* pool() const noexcept { return pool_; }

 private:
  struct UserTimer;

  Loop(std::unique_ptr<Backend> backend, const Clock& clock);
  [[nodiscard]] Duration time_to_wait(Duration max_wait) noexcept;
  void turn(Duration max_wait);
  void run_posts();
  void run_deferred() noexcept;
  void remove(UserTimer& timer) noexcept;

  const Clock& clock_;
  TimerWheel timers_;
  std::unique_ptr<Backend> backend_;
  DeferredNode deferred_;
  DeferredNode running_deferred_;
  std::vector<std::unique_ptr<UserTimer>> user_timers_;
  std::atomic<bool> is_stopping_{false};
  std::shared_ptr<Mailbox> mailbox_;  // shared with threads that may outlive the loop
  std::vector<std::function<void()>> running_posts_;
  skua::detail::WaiterList ready_;
  WorkerPool* pool_ = nullptr;
  std::function<void(std::exception_ptr)> on_failure_;
  Loop* older_ = nullptr;  // that lives on the same thread
  Attachments attachments_{};
};

/// Makes a loop the current one of this thread, as in a turn. Loops may nest.
class Loop::Entered {
 public:
  explicit Entered(Loop& loop) noexcept;
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered();

 private:
  Loop* outer_;
  skua::detail::WaiterList* outer_ready_;
};

}  // namespace skua::loop
