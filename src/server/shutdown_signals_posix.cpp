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

// SIGHUP reloads the certificates of servers with TLS; failures are in the server's log. Returns
// false if no server uses TLS: then SIGHUP shuts down, as is its default.
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

// This thread takes the signals; another one waits for the servers, which may end without a signal.
// Not the other way round: threads older than this object do not block the signals, and the kernel
// prefers the main thread to them only while it waits in sigwait().
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
  // If a signal from outside has ended the loop, the watcher's signal is still pending.
  const timespec at_once{};
  while (sigtimedwait(&impl_->signals, nullptr, &at_once) > 0) {
  }
}

}  // namespace skua
