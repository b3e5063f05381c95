// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>

#include "skua/server.hpp"

namespace skua {

/// SIGINT and SIGTERM as a wish to drain, for programs that run a Server of their own.
///
/// ```cpp
/// const skua::ShutdownSignals signals;  // before the server's threads
/// skua::Server server(router);
/// server.start().value();
/// signals.wait_and_drain(server);
/// ```
/// While one lives, the signals do nothing else, so none is lost or kills the program between the
/// start of the server and the wait. Threads that are started in the meantime inherit that.
///
/// SIGHUP means the same, but where TLS is spoken it asks for the certificates to be read again.
class ShutdownSignals final {
 public:
  ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;
  ~ShutdownSignals();

  /// Waits for a signal, then drains the server as Server::shutdown() does; a second signal ends
  /// that at once. Returns when the server has ended, also where nobody sent a signal.
  void wait_and_drain(Server& server) const;
  /// The same for several servers, all drained at the same time. `on_signal` is called before that,
  /// on this thread.
  void wait_and_drain(std::initializer_list<std::reference_wrapper<Server>> servers,
                      const std::function<void()>& on_signal = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua
