// SPDX-License-Identifier: MIT
// The signals are blocked in every thread and taken by sigwait: nothing runs in a signal handler.
#include "skua/shutdown_signals.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include "server/drains.hpp"

namespace skua {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

}  // namespace

struct ShutdownSignals::Impl {
  sigset_t signals{};
  sigset_t before{};
};

ShutdownSignals::ShutdownSignals() : impl_(std::make_unique<Impl>()) {
  sigemptyset(&impl_->signals);
  for (const int signal : signals) sigaddset(&impl_->signals, signal);
  pthread_sigmask(SIG_BLOCK, &impl_->signals, &impl_->before);
}

ShutdownSignals::~ShutdownSignals() { pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr); }

namespace {

// SIGHUP reloads the certificates of servers with TLS; failures are in the server's log. Returns
// false if no server uses TLS, and the program or else its service does not want it: then SIGHUP
// shuts down, as is its default. A service is reloaded by it, even if it has nothing to reload.
bool takes_hangup(std::initializer_list<std::reference_wrapper<Server>> servers,
                  const server::Drains& drains, const std::function<bool()>& on_hangup,
                  ServiceEvents* service) {
  if (service != nullptr) service->on_reload();
  // Also if on_hangup() fails: it has not asked for a drain.
  bool is_taken = on_hangup || service != nullptr;
  if (on_hangup) drains.call("on_hangup", [&] { is_taken = on_hangup(); });
  for (Server& server : servers) {
    if (server.tls_fingerprint().empty()) continue;
    static_cast<void>(server.reload_tls());
    is_taken = true;
  }
  if (is_taken && service != nullptr) service->on_reloaded();
  return is_taken;
}

bool is_any_pending() noexcept {
  sigset_t pending{};
  sigpending(&pending);
  return std::ranges::any_of(signals,
                             [&](int signal) { return sigismember(&pending, signal) == 1; });
}

}  // namespace

void ShutdownSignals::wait_and_drain(Server& server) const { wait_and_drain({std::ref(server)}); }

void ShutdownSignals::wait_and_drain(Server& server, ServiceEvents& service) const {
  wait_and_drain({std::ref(server)}, {}, {}, &service);
}

namespace {

// Not a lambda: the name of its type would have all parameters of the function in it.
struct EndWatcher {
  server::Drains::Servers servers;
  std::atomic<bool>& has_ended;
  pthread_t waiting;

  void operator()() const {
    for (Server& server : servers) server.wait();
    has_ended = true;
    pthread_kill(waiting, SIGINT);
  }
};

}  // namespace

// This thread takes the signals; another one waits for the servers, which may end without a signal.
// Not the other way round: threads older than this object do not block the signals, and the kernel
// prefers the main thread to them only while it waits in sigwait().
void ShutdownSignals::wait_and_drain(std::initializer_list<std::reference_wrapper<Server>> servers,
                                     const std::function<void()>& on_signal,
                                     const std::function<bool()>& on_hangup,
                                     ServiceEvents* service) const {
  sigset_t awaited = impl_->signals;
  const int other = service != nullptr ? service->on_serving(servers) : 0;
  if (other != 0) sigaddset(&awaited, other);
  std::atomic<bool> has_ended = false;
  std::thread watcher(EndWatcher{servers, has_ended, pthread_self()});
  server::Drains drains(servers);
  for (int signal = 0; sigwait(&awaited, &signal) == 0 && !has_ended;) {
    if (!drains.have_begun()) {
      if (signal == SIGHUP && takes_hangup(servers, drains, on_hangup, service)) continue;
      if (signal == other && !service->on_other_signal()) continue;
      if (service != nullptr) service->on_drain();
      if (on_signal) drains.call("on_signal", on_signal);
    } else if (signal == other) {
      continue;
    }
    drains.advance();
  }
  watcher.join();
  if (service != nullptr) service->on_end();
  // If a signal from outside has ended the loop, the watcher's signal is still pending.
  for (int signal = 0; is_any_pending(); sigwait(&impl_->signals, &signal)) {
  }
}

}  // namespace skua
