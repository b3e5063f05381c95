// SPDX-License-Identifier: MIT
// Windows calls a handler on a thread of its own if somebody presses Ctrl-C or Ctrl-Break, closes
// the console, logs off or shuts the machine down. After the last three it ends the process as soon
// as the handler returns, so the handler waits for the drain. Nothing stands for SIGHUP.
#include "skua/shutdown_signals.hpp"

#include <windows.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "server/drains.hpp"

namespace skua {

namespace {

struct Events {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned signals = 0;    // received and not yet taken
  bool has_ended = false;  // there is nothing left to drain
};

using Wait = std::unique_lock<std::mutex>;

// The handler has no context, so it finds the objects here; the latest one gets the events.
std::mutex listeners_mutex;
std::vector<Events*> listeners;

BOOL WINAPI handle_event(DWORD event) {
  const std::scoped_lock lock(listeners_mutex);
  if (listeners.empty()) return FALSE;
  Events& latest = *listeners.back();
  Wait wait(latest.mutex);
  ++latest.signals;
  latest.changed.notify_all();
  const bool ends_process = event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT;
  if (ends_process) latest.changed.wait(wait, [&] { return latest.has_ended; });
  return TRUE;
}

}  // namespace

struct ShutdownSignals::Impl : Events {};

ShutdownSignals::ShutdownSignals() : impl_(std::make_unique<Impl>()) {
  const std::scoped_lock lock(listeners_mutex);
  listeners.push_back(impl_.get());
  if (listeners.size() == 1) ::SetConsoleCtrlHandler(handle_event, TRUE);
}

ShutdownSignals::~ShutdownSignals() {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->has_ended = true;
    impl_->changed.notify_all();
  }
  const std::scoped_lock lock(listeners_mutex);
  std::erase(listeners, impl_.get());
  if (listeners.empty()) ::SetConsoleCtrlHandler(handle_event, FALSE);
}

void ShutdownSignals::wait_and_drain(Server& server) const { wait_and_drain({std::ref(server)}); }

void ShutdownSignals::wait_and_drain(Server& server, ServiceEvents& service) const {
  wait_and_drain({std::ref(server)}, {}, {}, &service);
}

void ShutdownSignals::wait_and_drain(std::initializer_list<std::reference_wrapper<Server>> servers,
                                     const std::function<void()>& on_signal,
                                     const std::function<bool()>& /*on_hangup*/,
                                     ServiceEvents* service) const {
  if (service != nullptr) service->on_serving(servers);
  bool have_servers_ended = false;  // guarded by the mutex
  std::thread watcher([&] {
    for (Server& server : servers) server.wait();
    const std::scoped_lock lock(impl_->mutex);
    have_servers_ended = true;
    impl_->changed.notify_all();
  });
  server::Drains drains(servers);
  while (true) {
    Wait wait(impl_->mutex);
    impl_->changed.wait(wait, [&] { return have_servers_ended || impl_->signals > 0; });
    if (have_servers_ended) break;
    --impl_->signals;
    wait.unlock();
    if (!drains.have_begun()) {
      if (service != nullptr) service->on_drain();
      if (on_signal) drains.call("on_signal", on_signal);
    }
    drains.advance();
  }
  watcher.join();
  if (service != nullptr) service->on_end();
}

}  // namespace skua
