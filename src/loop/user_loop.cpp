// SPDX-License-Identifier: MIT
// The loops, timers, signals and watches of programs. In: tasks and callbacks of the user's. Out:
// their exceptions, rethrown by the turn in which they were thrown.

#include <cerrno>
#include <deque>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "loop/current.hpp"
#include "loop/loop.hpp"
#include "loop/signal.hpp"
#include "loop/sockets.hpp"
#include "loop/watch.hpp"
#include "loop/worker_pool.hpp"
#include "skua/loop.hpp"

namespace skua {

struct Loop::Impl {
  Impl(std::unique_ptr<loop::Loop> made, const LoopOptions& options)
      : turns(std::move(made)), pool(options.offload_threads, options.offload_queue) {
    turns->use_pool(&pool);
    turns->live_here();
    turns->on_failure([this](std::exception_ptr thrown) {
      if (!failure) failure = std::move(thrown);
      turns->stop();
    });
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  // The destructors of what the loop keeps may use the pool, and report failures to `turns`.
  ~Impl() {
    tasks.reset();
    turns->drop_belongings();
    turns->use_pool(nullptr);
  }

  void rethrow() {
    if (failure) std::rethrow_exception(std::exchange(failure, {}));
  }
  Task<> supervise(Task<> task) {
    try {
      co_await task;
    } catch (...) {
      turns->call_user([] { throw; });
    }
  }

  std::exception_ptr failure;  // the end of the loop may still set it
  const std::unique_ptr<loop::Loop> turns;
  loop::WorkerPool pool;
  std::optional<Scope> tasks{std::in_place};
};

Loop::Loop(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Loop::~Loop() = default;

Result<std::unique_ptr<Loop>> Loop::create(const LoopOptions& options) {
  auto turns = loop::Loop::create({.backend = options.backend});
  if (!turns) return turns.error();
  return std::unique_ptr<Loop>(new Loop(std::make_unique<Impl>(*std::move(turns), options)));
}

void Loop::run() {
  impl_->turns->run();
  impl_->rethrow();
}

void Loop::stop() noexcept { impl_->turns->stop(); }

void Loop::poll(Duration max_wait) {
  impl_->turns->run_once(max_wait);
  impl_->turns->backend().submit();
  impl_->rethrow();
}

int Loop::descriptor() const noexcept { return impl_->turns->backend().descriptor(); }

Duration Loop::wait_limit() noexcept { return impl_->turns->wait_limit(); }

void Loop::post(std::function<void()> call) {
  impl_->turns->post(
      [impl = impl_.get(), call = std::move(call)] { impl->turns->call_user(call); });
}

void Loop::spawn(Task<> task) {
  impl_->turns->forget_now_between_turns();
  const loop::Loop::Entered entered(*impl_->turns);
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it goes with the loop
  impl_->tasks->spawn(impl_->supervise(std::move(task)));
}

BackendChoice Loop::backend() const noexcept { return impl_->turns->backend().kind(); }

namespace detail {

void LoopDeleter::operator()(Loop* loop) const noexcept { delete loop; }

std::unique_ptr<Loop, LoopDeleter> make_loop() {
  return std::unique_ptr<Loop, LoopDeleter>(Loop::create().value().release());
}

void drive(Loop& loop, bool (*is_done)(const void* task) noexcept, void (*start)(void* task),
           void* task) {
  if (loop::is_in_turn()) {
    throw std::logic_error(
        "run: this thread runs a loop, whose other tasks would stand still: co_await the task, or "
        "call run() in a function for skua::offload()");
  }
  Loop::Impl& impl = *loop.impl_;
  impl.turns->forget_now_between_turns();
  {
    const loop::Loop::Entered entered(*impl.turns);
    start(task);
  }
  while (!is_done(task)) {
    impl.turns->run_once(Duration(-1));
    impl.rethrow();
  }
}

}  // namespace detail

struct Timer::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(std::function<void()> called) : call(std::move(called)) {}
  void fire() noexcept {
    const std::shared_ptr<Impl> running = shared_from_this();
    loop.call_user(call);
  }

  loop::Loop& loop = loop::Loop::current();
  std::function<void()> call;
  loop::Timer timer{loop.timers(), loop::call_member<&Impl::fire>, this};
};

Timer::Timer(std::function<void()> callback) : impl_(std::make_shared<Impl>(std::move(callback))) {}
Timer::Timer(Timer&&) noexcept = default;
Timer& Timer::operator=(Timer&& other) noexcept {
  if (impl_ && this != &other) impl_->timer.stop();
  impl_ = std::move(other.impl_);
  return *this;
}
Timer::~Timer() {
  if (impl_) impl_->timer.stop();
}

void Timer::start(Duration delay) {
  impl_->loop.thread().need(
      "skua::Timer: another thread made it: start it there, in a call of Loop::post()");
  impl_->loop.forget_now_between_turns();
  impl_->timer.start(delay);
}
void Timer::stop() noexcept { impl_->timer.stop(); }
bool Timer::is_running() const noexcept { return impl_->timer.is_running(); }

struct Signals::Impl {
  void receive(int signal) {
    if (const auto call = callback) return loop.call_user([&] { (*call)(signal); });
    waiting.push_back(signal);
    arrived.wake_all();
  }

  loop::Loop& loop = loop::Loop::current();
  std::unique_ptr<loop::SignalWatcher> watcher{};
  std::deque<int> waiting{};
  detail::WaiterList arrived{};
  std::shared_ptr<const std::function<void(int)>> callback{};  // shared with its running call
};

Signals::Signals(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Signals::Signals(Signals&&) noexcept = default;
Signals& Signals::operator=(Signals&&) noexcept = default;
Signals::~Signals() = default;

Result<Signals> Signals::watch(std::initializer_list<int> signals) {
  auto impl = std::make_shared<Impl>();
  auto watcher = loop::SignalWatcher::create(
      impl->loop, signals, [impl = impl.get()](int signal) { impl->receive(signal); });
  if (!watcher) return watcher.error();
  impl->watcher = *std::move(watcher);
  return Signals(std::move(impl));
}

Task<int> Signals::next() {
  const std::shared_ptr<Impl> impl = impl_;
  while (impl->waiting.empty()) co_await impl->arrived.wait();
  const int signal = impl->waiting.front();
  impl->waiting.pop_front();
  co_return signal;
}

void Signals::on_signal(std::function<void(int)> callback) {
  impl_->callback =
      !callback ? nullptr : std::make_shared<const std::function<void(int)>>(std::move(callback));
}

DescriptorWatch::DescriptorWatch(std::shared_ptr<loop::Watch> watch) noexcept
    : watch_(std::move(watch)) {}
DescriptorWatch::DescriptorWatch(DescriptorWatch&&) noexcept = default;
DescriptorWatch& DescriptorWatch::operator=(DescriptorWatch&& other) noexcept {
  if (watch_ && this != &other) watch_->close();
  watch_ = std::move(other.watch_);
  return *this;
}
DescriptorWatch::~DescriptorWatch() {
  if (watch_) watch_->close();
}

Result<DescriptorWatch> DescriptorWatch::create(int descriptor) {
  loop::Loop& loop = loop::Loop::current();
  const int duplicate = bsd::duplicate(descriptor);
  if (duplicate < 0) return Error::from_system(errno, "dup");
  return DescriptorWatch(loop::Watch::open(loop, duplicate));
}

Task<Result<void>> DescriptorWatch::readable(Duration patience) {
  return loop::Watch::readable(watch_, patience);
}

Task<Result<void>> DescriptorWatch::writable(Duration patience) {
  return loop::Watch::writable(watch_, patience);
}

void DescriptorWatch::on_readable(std::function<void()> callback) {
  watch_->on_readable(std::move(callback));
}

}  // namespace skua
