// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

#include "skua/config.hpp"
#include "skua/server.hpp"

namespace skua {

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
/// SIGHUP drains too, except that with TLS it reloads the certificates, and that a program may take
/// it itself.
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
  /// Waits for a signal, then drains several servers at the same time. `on_signal` is called before
  /// that, on this thread. `on_hangup` is called for each SIGHUP, which does not drain if it
  /// returns true.
  void wait_and_drain(std::initializer_list<std::reference_wrapper<Server>> servers,
                      const std::function<void()>& on_signal = {},
                      const std::function<bool()>& on_hangup = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua
