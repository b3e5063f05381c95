// SPDX-License-Identifier: MIT
// A call goes to the pool of the current loop and comes back through the loop's mailbox. Its
// waiter may be gone by then, which is checked on the loop's thread only.
#include <functional>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/async.hpp"

namespace skua {
namespace detail {

void OffloadAwaiter::await_suspend(std::coroutine_handle<> caller) {
  const loop::Loop& loop = loop::Loop::current();
  waiter_.park(caller);
  call_->waiter = &waiter_;
  const bool is_taken =
      loop.pool() != nullptr && loop.pool()->submit([call = call_, mailbox = loop.mailbox()] {
        if (call->is_dropped.load(std::memory_order_relaxed)) return;
        call->run();
        mailbox->post([call] {
          if (call->waiter != nullptr) call->waiter->wake();
        });
      });
  if (!is_taken) throw Exception(Error(Errc::Overloaded, "offload"));
}

void drive(bool (*is_done)(const void* task) noexcept, void (*start)(void* task), void* task) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t queued = 1024;
  const std::unique_ptr<loop::Loop> loop = loop::Loop::create().value();
  loop::WorkerPool pool(threads, queued);
  loop->use_pool(&pool);
  loop->post([start, task] { start(task); });
  bool has_begun = false;
  while (!has_begun || !is_done(task)) {
    loop->run_once(has_begun ? Duration(-1) : Duration(0));
    has_begun = true;
  }
}

}  // namespace detail
}  // namespace skua
