// SPDX-License-Identifier: MIT
#include "service/signals.hpp"

#include <pthread.h>

#include <csignal>

namespace skua::service {
namespace {

sigset_t set_of(int signal) noexcept {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  return signals;
}

bool is_pending(int signal) noexcept {
  sigset_t pending{};
  return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

}  // namespace

HandOverSignal::HandOverSignal(bool is_wanted) noexcept : number_(is_wanted ? SIGUSR2 : 0) {
  if (number_ == 0) return;
  const sigset_t own = set_of(number_);
  sigset_t before{};
  pthread_sigmask(SIG_BLOCK, &own, &before);
  was_blocked_ = sigismember(&before, number_) == 1;
}

// One that is still pending would end the process.
HandOverSignal::~HandOverSignal() {
  if (number_ == 0 || was_blocked_) return;
  const sigset_t own = set_of(number_);
  for (int signal = 0; is_pending(number_); sigwait(&own, &signal)) {
  }
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
}

bool is_end_pending() noexcept { return is_pending(SIGTERM) || is_pending(SIGINT); }

}  // namespace skua::service
