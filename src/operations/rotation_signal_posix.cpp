// SPDX-License-Identifier: MIT
// The signal is blocked in every thread, and one takes it: nothing runs in a signal handler.
#include "operations/rotation_signal.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

namespace skua::operations {

struct RotationSignal::Impl {
  sigset_t signals{};
  sigset_t before{};
  std::atomic<bool> has_ended = false;
  std::thread thread{};
};

RotationSignal::RotationSignal() : impl_(std::make_unique<Impl>()) {
  sigemptyset(&impl_->signals);
  sigaddset(&impl_->signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &impl_->signals, &impl_->before);
}

void RotationSignal::start(std::function<void()> on_signal) {
  impl_->thread = std::thread([&impl = *impl_, on_signal = std::move(on_signal)] {
    for (int signal = 0; sigwait(&impl.signals, &signal) == 0 && !impl.has_ended;) on_signal();
  });
}

// One that is still pending from outside would end the process.
RotationSignal::~RotationSignal() {
  if (impl_->thread.joinable()) {
    impl_->has_ended = true;
    pthread_kill(impl_->thread.native_handle(), SIGUSR1);
    impl_->thread.join();
  }
  sigset_t pending{};
  for (int signal = 0; sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1;) {
    sigwait(&impl_->signals, &signal);
  }
  pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr);
}

}  // namespace skua::operations
