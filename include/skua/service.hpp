// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/inherited_sockets.hpp"
#include "skua/log_level.hpp"
#include "skua/options.hpp"
#include "skua/server.hpp"
#include "skua/service_manager.hpp"
#include "skua/shutdown_signals.hpp"

namespace skua {

/// Options of a Service.
struct ServiceOptions {
  /// SIGUSR2 starts a new process of the program, to which this one hands over its sockets. POSIX
  /// systems only.
  bool hand_over = false;
  /// The new process's program and arguments; empty: those of this process (Linux).
  std::vector<std::string> command{};
  /// How long the new process may take until it serves; then it is killed.
  Duration hand_over_deadline = std::chrono::seconds(30);
  /// Starts the new process in another way, waits until it serves, and returns its id. For programs
  /// that cannot start others themselves, because they have given up that right. What it throws is
  /// a reason not to hand over.
  std::function<Result<int, Problem>(const std::vector<ListeningSocket>&)> start_successor{};
  /// Events that concern the service; may be called on any thread.
  std::function<void(LogLevel, std::string_view)> log{};
};

/// A program as a service: tells the service manager, such as systemd, what becomes of its servers,
/// answers its watchdog, and hands over to a new process of the program on SIGUSR2.
///
/// ```cpp
/// int main() {
///   skua::Service service;  // before threads are started, like the next two
///   const skua::ShutdownSignals signals;
///   skua::Server server(router, {.listeners = skua::inherited_sockets().value()});
///   server.start().value();
///   signals.wait_and_drain(server, service);
/// }
/// ```
/// The manager is told that the program is ready when wait_and_drain() begins. From then on, its
/// watchdog hears of the program twice in each period, unless a thread of a server handles one
/// event for longer: then it restarts the program.
class SKUA_API Service final : public ServiceEvents {
 public:
  explicit Service(ServiceOptions options = {});
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  [[nodiscard]] ServiceManager& manager() noexcept;

  /// Names the sockets that a server opens, for programs with several: the new process of a
  /// hand-over gives each server its own, by take_named(). Inherited sockets have names already.
  ///
  /// Ends with: std::invalid_argument if the name is empty, has a colon or a line feed, or begins
  ///            with `skua-own`.
  /// Lifetime:  the server outlives the service, or its last hand-over.
  void name(const Server& server, std::string name);

  /// Hands the listening sockets of the servers over to a new process, as SIGUSR2 does. If it
  /// returns the id of that process, this one no longer is the service: drain the servers, and end.
  /// Otherwise, nothing has changed.
  ///
  /// Waits for: the new process to serve, at most ServiceOptions::hand_over_deadline. SIGINT and
  ///            SIGTERM, if they are blocked and pending, end the wait.
  /// Ends with: a text that says why: it could not be started, it ended, it never was ready.
  Result<int, Problem> hand_over(Servers servers);

 private:
  int on_serving(Servers servers) override;
  void on_reload() override;
  void on_reloaded() override;
  bool on_other_signal() override;
  void on_drain() override;
  void on_end() override;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Like serve(), as a service: accepts connections on inherited sockets, if there are any, and
/// tells the service of all that happens.
SKUA_API Result<void, Problem> serve(const Router& router, ServerOptions options, Service& service);

}  // namespace skua
