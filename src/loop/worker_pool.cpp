// SPDX-License-Identifier: MIT
// In: calls. Out: each runs once, on some thread. A thread is started only if there are more
// calls than idle threads, so programs that offload nothing pay nothing.
#include "loop/worker_pool.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "async/destroy_off_loop.hpp"
#include "loop/current.hpp"
#include "loop/loop.hpp"
#include "skua/async.hpp"
#include "skua/lane.hpp"

namespace skua::loop {
namespace {

thread_local const void* pool_of_this_thread = nullptr;

}  // namespace

struct WorkerPool::State {
  State(std::size_t threads_at_most, std::size_t queued_at_most) noexcept
      : max_threads(threads_at_most == 0 ? 1 : threads_at_most), max_queued(queued_at_most) {}

  void work();

  const std::size_t max_threads;
  const std::size_t max_queued;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;  // guarded by mutex, like all that follows
  std::vector<std::thread> threads;
  std::size_t idle = 0;
  std::size_t refused = 0;
  bool is_ending = false;
};

WorkerPool::WorkerPool(std::size_t threads, std::size_t queued)
    : state_(std::make_shared<State>(threads, queued)) {}

WorkerPool::~WorkerPool() {
  std::deque<std::function<void()>> dropped;  // destroyed outside the lock: destructors may submit
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->queue.swap(dropped);
    state_->threads.swap(threads);
  }
  dropped.clear();
  state_->changed.notify_all();
  for (std::thread& thread : threads) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

bool WorkerPool::is_own_thread() const noexcept { return pool_of_this_thread == state_.get(); }

WorkerPool::Counts WorkerPool::counts() const {
  const std::lock_guard lock(state_->mutex);
  return {.running = state_->threads.size() - state_->idle,
          .waiting = state_->queue.size(),
          .refused = state_->refused};
}

bool WorkerPool::is_full() const noexcept {
  const std::lock_guard lock(state_->mutex);
  const std::size_t startable = state_->max_threads - state_->threads.size();
  return state_->queue.size() >= state_->max_queued + state_->idle + startable;
}

bool WorkerPool::submit(std::function<void()> call) {
  const std::shared_ptr<State> kept = state_;  // the call may destroy the pool before we return
  State& state = *kept;
  {
    const std::lock_guard lock(state.mutex);
    if (state.is_ending) return false;
    const bool has_thread = state.idle > state.queue.size();
    if (!has_thread && state.threads.size() < state.max_threads) {
      try {
        state.threads.emplace_back([kept] { kept->work(); });
        ++state.idle;  // it is about to check the queue
      } catch (const std::system_error&) {
        if (state.threads.empty()) return false;  // no thread can be started
      }
    }
    if (state.queue.size() >= state.max_queued + state.idle) {
      ++state.refused;
      return false;
    }
    state.queue.push_back(std::move(call));
  }
  state.changed.notify_one();
  return true;
}

void WorkerPool::State::work() {
  pool_of_this_thread = this;
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return is_ending || !queue.empty(); });
    if (is_ending) return;
    std::function<void()> call = std::move(queue.front());
    queue.pop_front();
    --idle;
    lock.unlock();
    call();
    call = nullptr;  // also outside the lock: its destructor may submit, or take long
    lock.lock();
    ++idle;
  }
}

}  // namespace skua::loop

// A call goes to the pool of the current loop and comes back through the loop's mailbox. Its
// waiter may be gone by then, which is checked on the loop's thread only.

namespace skua {
namespace detail {

void OffloadAwaiter::await_suspend(std::coroutine_handle<> caller) {
  const loop::Loop& loop = loop::Loop::current();
  waiter_.park(caller);
  call_->waiter = &waiter_;
  loop::WorkerPool* const pool = lane_ != nullptr ? lane_->pool_.get() : loop.pool();
  const bool is_taken = pool != nullptr && pool->submit([call = call_, mailbox = loop.mailbox()] {
    if (call->is_dropped.load(std::memory_order_relaxed)) return;
    call->run();
    mailbox->post([call] {
      if (call->waiter != nullptr) call->waiter->wake();
    });
  });
  if (!is_taken) throw Exception(Error(Errc::Overloaded, "offload"));
}

}  // namespace detail

Lane::Lane(const LaneOptions& options)
    : pool_(std::make_unique<loop::WorkerPool>(options.threads, options.queued_calls)) {}
Lane::~Lane() = default;

bool Lane::is_full() const noexcept { return pool_->is_full(); }

void async::destroy_off_loop(std::shared_ptr<void> value) noexcept try {
  const loop::Loop* const loop = loop::find_current();
  if (loop == nullptr || loop->pool() == nullptr) return;
  // The thread destroys what it has called; a pool that refuses the call destroys it here.
  static_cast<void>(loop->pool()->submit([kept = std::move(value)] {}));
} catch (const std::bad_alloc&) {
  return;  // it has been destroyed here
}

}  // namespace skua
