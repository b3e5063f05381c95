// SPDX-License-Identifier: MIT
// The signals are blocked in every thread and taken by sigwait: nothing runs in a signal handler.
#include "skua/shutdown_signals.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

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

namespace {

// Where TLS is spoken, SIGHUP asks for the new certificates; elsewhere it means what it does by
// itself: the end. What went wrong is in the server's log.
bool takes_hangup(std::initializer_list<std::reference_wrapper<Server>> servers) {
  bool is_taken = false;
  for (Server& server : servers) {
    if (server.tls_fingerprint().empty()) continue;
    static_cast<void>(server.reload_tls());
    is_taken = true;
  }
  return is_taken;
}

}  // namespace

void ShutdownSignals::wait_and_drain(Server& server) const { wait_and_drain({std::ref(server)}); }

// This thread takes the signals, another waits for the servers, which may end without one. Not the
// other way round: threads that are older than the object do not block the signals, and the kernel
// prefers the thread that began the program to them only while it waits in sigwait().
void ShutdownSignals::wait_and_drain(std::initializer_list<std::reference_wrapper<Server>> servers,
                                     const std::function<void()>& on_signal) const {
  std::atomic<bool> has_ended = false;
  std::thread watcher([servers, &has_ended, waiting = pthread_self()] {
    for (Server& server : servers) server.wait();
    has_ended = true;
    pthread_kill(waiting, SIGINT);
  });
  std::vector<std::thread> drains;
  for (int signal = 0; sigwait(&impl_->signals, &signal) == 0 && !has_ended;) {
    if (!drains.empty()) {
      for (Server& server : servers) server.cancel();
    } else if (signal != SIGHUP || !takes_hangup(servers)) {
      if (on_signal) on_signal();
      for (Server& server : servers) drains.emplace_back([&server] { server.shutdown(); });
    }
  }
  for (std::thread& drain : drains) drain.join();
  watcher.join();
  // A signal of the user's may have come instead of the watcher's, which is then still to be taken.
  const timespec at_once{};
  while (sigtimedwait(&impl_->signals, nullptr, &at_once) > 0) {
  }
}

}  // namespace skua
