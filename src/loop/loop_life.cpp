// SPDX-License-Identifier: MIT
// In: options, calls from other threads. Out: a loop, which each thread can find; its end; timers
// and tasks of users.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/memory.hpp"
#include "loop/current.hpp"
#include "loop/loop.hpp"
#include "skua/async.hpp"

namespace skua::loop {
namespace {

thread_local Loop* current_loop = nullptr;  // the loop that runs a turn
thread_local Loop* newest_loop = nullptr;   // the loop that lives here

const Clock& machine_clock() noexcept {
  static const SteadyClock clock;
  return clock;
}

}  // namespace

Loop::Entered::Entered(Loop& loop) noexcept
    : outer_(std::exchange(current_loop, &loop)),
      outer_ready_(skua::detail::WaiterList::exchange_ready(&loop.ready_)) {
  loop.thread_ = {};
}

Loop::Entered::~Entered() {
  skua::detail::WaiterList::exchange_ready(outer_ready_);
  current_loop = outer_;
}

struct Loop::UserTimer {
  UserTimer(Loop& owner, std::size_t place, std::function<void()> what)
      : loop(owner), index(place), task(std::move(what)) {}

  void fire() {
    const std::function<void()> todo = std::move(task);
    loop.remove(*this);
    todo();
  }

  Loop& loop;
  std::size_t index;
  std::function<void()> task;
  Timer timer{loop.timers_, call_member<&UserTimer::fire>, this};
};

Result<std::unique_ptr<Loop>> Loop::create(const LoopOptions& options) {
  auto backend = Backend::create(options.backend);
  if (!backend) return backend.error();
  const Clock& clock = options.clock != nullptr ? *options.clock : machine_clock();
  return std::unique_ptr<Loop>(new Loop(*std::move(backend), clock));
}

namespace {

struct Rethrow {
  void operator()(const std::exception_ptr& thrown) const { std::rethrow_exception(thrown); }
};

}  // namespace

Loop::Loop(std::unique_ptr<Backend> backend, const Clock& clock)
    : clock_(clock),
      timers_(clock),
      backend_(std::move(backend)),
      trim_timer_(timers_, call_member<&Loop::trim>, this),
      mailbox_(std::make_shared<Mailbox>(*backend_)),
      on_failure_(Rethrow{}) {}

Loop::~Loop() {
  drop_belongings();
  for (Loop** link = &newest_loop; *link != nullptr; link = &(*link)->older_) {
    if (*link != this) continue;
    *link = older_;
    break;
  }
  mailbox_->close();
  backend_.reset();  // its last on_closed calls may still use the rest
  while (deferred_.next_ != &deferred_) deferred_.next_->cancel();
  while (turn_ends_ != &after_last_) forget(*turn_ends_);
}

void Loop::drop_belongings() noexcept {
  const Entered entered(*this);
  kept_tasks_.owner.reset();
  attachments_ = {};
}

void Loop::forget(TurnEnd& owner) noexcept {
  for (TurnEnd** const list : {&turn_ends_, &running_turn_ends_}) {
    for (TurnEnd** at = list; *at != &after_last_; at = &(*at)->next_) {
      if (*at != &owner) continue;
      *at = std::exchange(owner.next_, nullptr);
      if (last_turn_end_ == &owner.next_) last_turn_end_ = at;
      return;
    }
  }
}

void Loop::run() {
  const Entered entered(*this);
  while (!is_stopping_.exchange(false, std::memory_order_acq_rel)) turn(Duration(-1));
}

// Beyond all counts: the timer runs. It began at what is left without this bit.
constexpr std::uint64_t timer_runs = std::uint64_t{1} << 63U;

void Loop::trim_later() noexcept {
  trims_at_bytes_ = backend_->taken_bytes() | timer_runs;
  trim_timer_.start(trim_delay);
}

// Trimming takes milliseconds, so a busy thread puts it off. Peers may still hold what they sent
// before a trim. Leaving counts little, so little starts the next trims after a large one, each of
// which settles half of what is left.
void Loop::trim() noexcept {
  constexpr std::uint64_t calm_bytes = 1_MiB;
  constexpr std::uint64_t leaving_bytes = 128_KiB;
  const std::uint64_t taken = backend_->taken_bytes();
  if ((taken | timer_runs) - trims_at_bytes_ > calm_bytes) return trim_later();
  const std::uint64_t unsettled = taken - seen_bytes_;
  seen_bytes_ = taken - unsettled / 2;
  trims_at_bytes_ = taken + (unsettled < trim_after_bytes ? trim_after_bytes : leaving_bytes);
  if (trim_callback_ != nullptr) trim_callback_(trim_context_);
  base::give_back_free_memory();
}

void Loop::stop() noexcept {
  is_stopping_.store(true, std::memory_order_release);
  wake();
}

void Loop::run_once(Duration max_wait) {
  const Entered entered(*this);
  turn(max_wait);
}

bool is_in_turn() noexcept { return current_loop != nullptr; }

Loop* find_current() noexcept { return current_loop != nullptr ? current_loop : newest_loop; }

Loop& Loop::current() {
  Loop* const loop = find_current();
  if (loop == nullptr) {
    throw std::logic_error(
        "no loop runs on this thread: use it in skua::run(), in a handler, or after "
        "Loop::create()");
  }
  return *loop;
}

void Loop::live_here() noexcept { older_ = std::exchange(newest_loop, this); }

void Loop::forget_now_between_turns() noexcept {
  if (current_loop != this) timers_.forget_now();
}

Duration Loop::wait_limit() noexcept {
  const Duration wait = time_to_wait(Duration(-1));
  return wait < Duration::zero() ? Duration::max() : wait;
}

void Loop::after(Duration delay, std::function<void()> task) {
  auto timer = std::make_unique<UserTimer>(*this, user_timers_.size(), std::move(task));
  timer->timer.start(delay);
  user_timers_.push_back(std::move(timer));
}

void Loop::remove(UserTimer& timer) noexcept {
  const std::size_t index = timer.index;
  std::swap(user_timers_[index], user_timers_.back());
  user_timers_[index]->index = index;
  user_timers_.pop_back();
}

// In: calls from any thread. Out: a batch per turn. Wake-ups happen under the lock, so that the
// loop cannot go away between the check and the call.

bool Mailbox::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (backend_ == nullptr) return false;
  const bool is_first = posts_.empty();
  posts_.push_back(std::move(task));
  has_posts_.store(true, std::memory_order_release);
  if (is_first) backend_->wake();
  return true;
}

void Mailbox::close() noexcept {
  std::vector<std::function<void()>> dropped;  // destroyed outside the lock: destructors may post
  const std::lock_guard lock(mutex_);
  backend_ = nullptr;
  posts_.swap(dropped);
}

}  // namespace skua::loop

namespace skua {
namespace {

// A timer whose callback resumes a coroutine.
class SleepAwaiter {
 public:
  explicit SleepAwaiter(Duration time)
      : timer_(
            loop::Loop::current().timers(),
            [](void* self) noexcept { static_cast<SleepAwaiter*>(self)->caller_.resume(); }, this),
        time_(time) {}

  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) noexcept {
    caller_ = caller;
    timer_.start(time_);
  }
  static void await_resume() noexcept {}

 private:
  loop::Timer timer_;
  Duration time_;
  std::coroutine_handle<> caller_{};
};

}  // namespace

Task<> sleep(Duration time) {
  SleepAwaiter timer(time);  // NOLINT(misc-const-correctness): it changes while awaited
  co_await timer;
}

detail::YieldAwaiter yield() noexcept { return {}; }

}  // namespace skua
