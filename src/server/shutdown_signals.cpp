// SPDX-License-Identifier: MIT
// The signals are blocked in every thread and taken by sigwait: nothing runs in a signal handler.
#include "skua/shutdown_signals.hpp"

#include <pthread.h>

#include <csignal>
#include <thread>

namespace skua {

struct ShutdownSignals::Impl {
  sigset_t signals{};
  sigset_t before{};
};

ShutdownSignals::ShutdownSignals() : impl_(std::make_unique<Impl>()) {
  sigemptyset(&impl_->signals);
  sigaddset(&impl_->signals, SIGINT);
  sigaddset(&impl_->signals, SIGTERM);
  sigaddset(&impl_->signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &impl_->signals, &impl_->before);
}

ShutdownSignals::~ShutdownSignals() { pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr); }

// Where TLS is spoken, SIGHUP asks for the new certificates; elsewhere it means what it does by
// itself: the end. What went wrong is in the server's log.
bool ShutdownSignals::takes_hangup(Server& server) {
  if (server.tls_fingerprint().empty()) return false;
  static_cast<void>(server.reload_tls());
  return true;
}

void ShutdownSignals::wait_and_drain(Server& server) const {
  int signal = 0;
  do {
    sigwait(&impl_->signals, &signal);
  } while (signal == SIGHUP && takes_hangup(server));
  std::thread impatience([&] {
    int second = 0;
    sigwait(&impl_->signals, &second);
    server.cancel();  // without effect when the drain is over
  });
  server.shutdown();
  pthread_kill(impatience.native_handle(), SIGINT);
  impatience.join();
}

}  // namespace skua
