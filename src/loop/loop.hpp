// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/backend.hpp"
#include "loop/clock.hpp"
#include "loop/timer_wheel.hpp"
#include "skua/attachments.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/log_level.hpp"
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

/// A call at the end of a turn, embedded in its owner; see Loop::defer.
class Deferred final {
 public:
  Deferred(Callback callback, void* context) noexcept : callback_(callback), context_(context) {}
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  ~Deferred() { cancel(); }

  [[nodiscard]] bool is_pending() const noexcept { return next_ != nullptr; }
  void cancel() noexcept;

 private:
  friend class Loop;
  Deferred() noexcept : Deferred(nullptr, nullptr) { next_ = previous_ = this; }  // head of a ring
  void insert_before(Deferred& node) noexcept;

  Callback callback_;
  void* context_;
  Deferred* next_ = nullptr;
  Deferred* previous_ = nullptr;
};

/// The end of a turn, for numerous owners: a pointer each, as all of a loop share one callback.
///
/// Lifetime: Loop::forget() comes before the destruction of one that is pending.
class TurnEnd {
 public:
  TurnEnd() = default;
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;

 protected:
  ~TurnEnd() { SKUA_ASSERT(!is_pending()); }
  [[nodiscard]] bool is_pending() const noexcept { return next_ != nullptr; }

 private:
  friend class Loop;
  TurnEnd* next_ = nullptr;  // pending: never null, as the last one refers to the loop's own
};

/// Options of a loop.
struct LoopOptions {
  BackendChoice backend = BackendChoice::Auto;  ///< The kind of back end.
  const Clock* clock = nullptr;                 ///< Null: the machine's. Must outlive the loop.
};

/// The event loop of a thread: descriptors, timers, deferred calls and posts of other threads.
///
/// A turn waits, calls the handles, fires the timers, runs the posts, resumes woken tasks, and
/// runs the deferred calls and the ends of the turn. Callbacks are noexcept by contract: a loop
/// catches nothing, so an escaping exception terminates. Only post, stop and wake may be called on
/// other threads than the one that runs the loop.
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
  void defer(Deferred& call) noexcept;
  /// Calls back, with `owner` as context, at the end of this turn, after the deferred calls; once,
  /// and in the next turn if this is called there.
  void defer(TurnEnd& owner) noexcept {
    if (owner.is_pending()) return;
    owner.next_ = &after_last_;
    *last_turn_end_ = &owner;
    last_turn_end_ = &owner.next_;
  }
  /// Withdraws it. Takes time in proportion to those that are pending.
  SKUA_COLD void forget(TurnEnd& owner) noexcept;
  /// Sets the callback of all, whose context is the TurnEnd.
  void on_turn_end(Callback callback) noexcept { turn_end_callback_ = callback; }

  /// Calls `tell` at the end of each turn with the time that it took, without its wait.
  void measure_turns(void (*tell)(void* context, Duration busy) noexcept, void* context) noexcept {
    tell_turn_ = tell;
    turn_context_ = context;
  }

  /// From now on, waited() tells how long events have waited for this thread.
  void measure_waits() noexcept { measures_waits_ = true; }
  /// Returns for how long, at most, an event that is handled at `now` has waited: since the last
  /// turn began to handle events, unless this one had to wait for some.
  [[nodiscard]] Duration waited(Instant now) noexcept {
    constexpr Duration no_wait{100'000};  // about what the call that waits costs
    const bool has_slept = timers_.now() - wait_began_ > no_wait;
    const Duration in_turn = now - timers_.now();
    return has_slept ? in_turn : in_turn + busy_;
  }

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

  /// The thread that runs the loop, or else the one that created it.
  [[nodiscard]] const skua::detail::OwnThread& thread() const noexcept { return thread_; }

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

  /// Once peers have made this thread hold so much more, and it has been calm for `trim_delay`,
  /// free memory goes back to the system. What was in use then does so a little later.
  static constexpr std::uint64_t trim_after_bytes = 16_MiB;
  static constexpr Duration trim_delay{std::chrono::seconds(2)};
  /// Sets what is called before that, to drop spare memory.
  void on_trim(Callback callback, void* context) noexcept {
    trim_callback_ = callback;
    trim_context_ = context;
  }

  /// Values that belong to this loop's thread, by type: a client that handlers share, for example.
  /// They are destroyed first of all when the loop is, and may close streams then.
  [[nodiscard]] Attachments& attachments() noexcept { return attachments_; }

  /// Tasks that run to their end although nobody awaits them any more, see skua::finish(). The
  /// owner of the loop waits for them before it ends. They are destroyed before the attachments,
  /// which they use.
  struct KeptTasks {
    std::shared_ptr<void> owner{};  ///< shared for its deleter only; null until there were some
    std::size_t count = 0;
    Callback on_last_end = nullptr;  ///< called when the count falls to zero
    void* context = nullptr;
  };
  [[nodiscard]] KeptTasks& kept_tasks() noexcept { return kept_tasks_; }
  /// Destroys the tasks and the attachments, on the thread that ran the loop.
  void drop_belongings() noexcept;

  /// Sets the log of the server that runs the loop, which must not throw; null at first.
  using Log = std::function<void(LogLevel, std::string_view)>;
  void use_log(const Log* log) noexcept { log_ = log; }
  [[nodiscard]] const Log* log() const noexcept { return log_; }

  /// Sets the pool of offload(); null at first. It must outlive the loop's turns.
  void use_pool(WorkerPool* pool) noexcept { pool_ = pool; }
  [[nodiscard]] WorkerPool* pool() const noexcept { return pool_; }

 private:
  struct UserTimer;

  Loop(std::unique_ptr<Backend> backend, const Clock& clock);
  [[nodiscard]] Duration time_to_wait(Duration max_wait) noexcept;
  void turn(Duration max_wait);
  void note_wait() noexcept;
  void run_posts();
  void run_deferred() noexcept;
  void run_turn_ends() noexcept;
  SKUA_COLD void trim_later() noexcept;
  SKUA_COLD void trim() noexcept;
  void remove(UserTimer& timer) noexcept;

  const Clock& clock_;
  TimerWheel timers_;
  std::unique_ptr<Backend> backend_;
  Deferred deferred_;
  Deferred running_deferred_;
  TurnEnd after_last_;
  TurnEnd* turn_ends_ = &after_last_;
  TurnEnd** last_turn_end_ = &turn_ends_;
  TurnEnd* running_turn_ends_ = &after_last_;
  Callback turn_end_callback_ = nullptr;
  void (*tell_turn_)(void* context, Duration busy) noexcept = nullptr;
  void* turn_context_ = nullptr;
  bool measures_waits_ = false;
  Instant wait_began_{};  // of this turn
  Duration busy_{};       // how long the turn before took from the end of its wait
  std::uint64_t trims_at_bytes_ = trim_after_bytes;  // of the back end's taken_bytes()
  std::uint64_t seen_bytes_ = 0;                     // up to here, trims have done their work
  Timer trim_timer_;
  Callback trim_callback_ = nullptr;
  void* trim_context_ = nullptr;
  std::vector<std::unique_ptr<UserTimer>> user_timers_;
  std::atomic<bool> is_stopping_{false};
  std::shared_ptr<Mailbox> mailbox_;  // shared with threads that may outlive the loop
  std::vector<std::function<void()>> running_posts_;
  skua::detail::WaiterList ready_;
  WorkerPool* pool_ = nullptr;
  std::function<void(std::exception_ptr)> on_failure_;
  Loop* older_ = nullptr;  // that lives on the same thread
  Attachments attachments_{};
  KeptTasks kept_tasks_{};
  const Log* log_ = nullptr;
  skua::detail::OwnThread thread_;  // of the last turn
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
