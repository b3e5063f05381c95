// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "loop/backend.hpp"
#include "loop/callback.hpp"
#include "loop/clock.hpp"
#include "loop/mailbox.hpp"
#include "loop/timer_wheel.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/waiter.hpp"

namespace skua::loop {

class Loop;
class WorkerPool;

/// A call at the end of a turn, embedded in its owner; see Loop::defer. This one is for who is
/// many: the callback is told the node.
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

/// The same with what the callback is told.
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

/// How a loop is made.
struct LoopOptions {
  BackendChoice backend = BackendChoice::Auto;  ///< What drives it.
  const Clock* clock = nullptr;  ///< Its time; null: the machine's. Outlives the loop.
};

/// One thread's events: descriptors, timers, deferred calls and what other threads post.
///
/// A turn: wait, tell the handles, fire the timers, run the posts, resume the tasks that were
/// woken, run the deferred calls. Every callback is noexcept by contract: a loop catches nothing,
/// an escaping exception terminates. All but post, stop and wake is for the loop's thread: the one
/// that runs it. Lifetime: handles are closed and have told on_closed, timers and deferred calls
/// are destroyed
///           or idle, before the loop is destroyed.
class Loop {
 public:
  /// Ends with: Unsupported where the machine lacks the back end; TooManyOpenFiles and the like.
  static Result<std::unique_ptr<Loop>> create(const LoopOptions& options = {});

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Tells on_closed to what was being closed; drops posts and user timers that have not run.
  ~Loop();

  /// Turns until stop().
  void run();
  /// Makes run() return after the current turn; called before run(), it returns at once. Any
  /// thread.
  void stop() noexcept;
  /// One turn that waits at most `max_wait` (negative: for ever) for something to do.
  void run_once(Duration max_wait);
  /// Makes a turn in progress, or the next one, not wait. Any thread, async-signal-safe.
  void wake() noexcept { backend_->wake(); }

  /// Runs `task` on the loop's thread, in the order of posting. Any thread; one wake a batch.
  void post(std::function<void()> task) { mailbox_->post(std::move(task)); }
  /// The same for threads that may outlive the loop.
  [[nodiscard]] const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
  /// Runs `task` once, `delay` from now. Nothing cancels it; what must be cancelled uses a Timer.
  void after(Duration delay, std::function<void()> task);
  /// Runs `call` once at the end of this turn; while such calls run, at the end of the next, which
  /// then does not wait. A call that is pending already stays where it is.
  void defer(DeferredNode& call) noexcept;

  /// The time at which this turn began to tell of events: read at most once a turn.
  [[nodiscard]] Instant now() noexcept { return timers_.now(); }
  /// The time at this moment, for who measures what happens within a turn.
  [[nodiscard]] Instant exact_now() const noexcept { return clock_.now(); }
  [[nodiscard]] TimerWheel& timers() noexcept { return timers_; }
  [[nodiscard]] Backend& backend() noexcept { return *backend_; }

  /// The loop whose turn it is on this thread.
  ///
  /// Ends with: std::logic_error where there is none.
  [[nodiscard]] static Loop& current();
  /// Where offload() makes its calls; null until told. Outlives the loop's turns.
  void use_pool(WorkerPool* pool) noexcept { pool_ = pool; }
  [[nodiscard]] WorkerPool* pool() const noexcept { return pool_; }

 private:
  struct UserTimer;
  class Entered;

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
};

}  // namespace skua::loop
