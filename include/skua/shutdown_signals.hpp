// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

#include "skua/config.hpp"
#include "skua/server.hpp"

namespace skua {

/// Learns from ShutdownSignals::wait_and_drain() what becomes of the servers. Programs use Service,
/// which implements it.
class ServiceEvents {
 public:
  using Servers = std::initializer_list<std::reference_wrapper<Server>>;

  /// The servers serve, and the wait begins. Returns another signal to wait for, which is blocked
  /// already; 0: none.
  virtual int on_serving(Servers servers) = 0;
  /// SIGHUP has come; if it does not lead to a drain, on_reloaded() follows.
  virtual void on_reload() = 0;
  virtual void on_reloaded() = 0;
  /// The other signal has come. Returns whether to drain.
  virtual bool on_other_signal() = 0;
  virtual void on_drain() = 0;
  /// The wait is over: the servers may be destroyed.
  virtual void on_end() = 0;

 protected:
  ~ServiceEvents() = default;
};

/// Drains servers on SIGINT and SIGTERM, for programs that run a Server of their own.
///
/// ```cpp
/// const skua::ShutdownSignals signals;  // before the server's threads
/// skua::Server server(router);
/// server.start().value();
/// signals.wait_and_drain(server);
/// ```
/// While an object exists, the signals are blocked, so none is lost or kills the program between
/// the start of the server and the wait. Threads that are started meanwhile inherit this.
///
/// SIGHUP drains too, except that with TLS it reloads the certificates, that with a Service it only
/// reloads, and that a program may take it itself.
class SKUA_API ShutdownSignals final {
 public:
  ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;
  ~ShutdownSignals();

  /// Waits for a signal, then drains the server like Server::shutdown(); a second signal skips
  /// Timeouts::drain_delay, or ends the drain at once. Returns when the server has ended, even
  /// without a signal.
  void wait_and_drain(Server& server) const;
  void wait_and_drain(Server& server, ServiceEvents& service) const;
  /// Waits for a signal, then drains several servers at the same time. `on_signal` is called before
  /// that, on this thread. `on_hangup` is called for each SIGHUP, which does not drain if it
  /// returns true; without one, it does not drain a service. The service, unless null, is told of
  /// all that. What callbacks throw goes to Hooks::log; the servers drain all the same.
  void wait_and_drain(std::initializer_list<std::reference_wrapper<Server>> servers,
                      const std::function<void()>& on_signal = {},
                      const std::function<bool()>& on_hangup = {},
                      ServiceEvents* service = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua
