// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it says which C++ the others need

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/counters.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "skua/websocket_message.hpp"

namespace skua {

/// Where a server is in its life.
enum class ServerState : std::uint8_t {
  New,       ///< not started yet
  Running,   ///< takes requests
  Draining,  ///< finishes the requests in progress
  Ended,     ///< does nothing any more; start() begins again
};

/// An HTTP server: one loop, one listener and its own connections per thread, nothing shared.
///
/// Every function may be called from any thread, the server's own included (handlers, hooks,
/// offloaded calls). The server's own threads never wait for the server: there, shutdown(), wait()
/// and the destructor return at once, and what they began goes on behind them.
///
/// Lifetime: the router has to outlive the server's threads; it is read by all of them and must not
///           change. They are gone when shutdown(), wait() or the destructor returns on another
///           thread.
class Server {
 public:
  explicit Server(const Router& router SKUA_LIFETIMEBOUND, ServerOptions options = {});
  explicit Server(const Router&& router, ServerOptions options = {}) = delete;
  /// Cancels what is in progress and joins the threads; shutdown() first is the polite way.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens and starts the threads; returns when requests are taken. Once the server has ended, it
  /// may be started again; with port 0 it takes another port.
  /// Ends with: AlreadyStarted unless New or Ended; Cancelled when shutdown() or cancel() came in
  ///            between; AddressInUse, AddressUnavailable, PermissionDenied, InvalidAddress,
  ///            TooManyOpenFiles, Unsupported (back end, TLS), TlsConfiguration (whose message says
  ///            which file is wrong, and how).
  Result<void, Problem> start();

  [[nodiscard]] ServerState state() const noexcept;
  /// Waits until the server has ended, whoever ends it; returns at once where it does not run.
  void wait();

  /// The port that is listened on; 0 before start() and for Unix sockets.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// `http://127.0.0.1:8080`, `https://` where TLS is spoken.
  [[nodiscard]] std::string url() const;
  /// The facility that drives the loops; decided by start().
  [[nodiscard]] BackendChoice backend() const noexcept;

  /// Reads certificates, keys and authorities again; connections that are open keep what they have.
  /// Where something is wrong the server goes on with what it had.
  ///
  /// Ends with: what start() ends with for TLS; Unsupported where no TLS is spoken.
  Result<void, Problem> reload_tls();
  /// SHA-256 of the first certificate as `AB:CD:...`; empty where no TLS is spoken.
  [[nodiscard]] std::string tls_fingerprint() const;

  /// Sends a text to all WebSockets that are subscribed to a topic: see WebSocket::publish. Goes
  /// nowhere before the start.
  void publish(std::string_view topic, std::string_view text, MessageType type = MessageType::Text);

  /// Drains: stops listening, closes idle connections, lets requests in progress finish, then ends
  /// the threads.
  ///
  /// Waits for: the requests in progress, at most `deadline` (Duration::max(): for ever); the rest
  ///            is cancelled. Called again, the earlier deadline holds.
  void shutdown(Duration deadline);
  void shutdown();  ///< with Timeouts::shutdown

  /// Ends everything at once, also a shutdown() that waits in another thread; waits for nothing.
  void cancel();

  /// Sums over all its lives.
  [[nodiscard]] Counters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Serves until SIGINT or SIGTERM, drains, and returns. A second signal ends the drain at once.
/// SIGHUP reads certificates again, where TLS is spoken.
///
/// Ends with: what Server::start() ends with.
Result<void, Problem> serve(const Router& router, ServerOptions options = {});

}  // namespace skua
