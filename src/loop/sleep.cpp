// SPDX-License-Identifier: MIT
// A timer whose callback resumes a coroutine.
#include "loop/loop.hpp"
#include "skua/async.hpp"

namespace skua {
namespace {

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
