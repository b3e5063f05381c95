// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/counters.hpp"
#include "skua/error.hpp"
#include "skua/mistakes.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "skua/websocket_message.hpp"

namespace skua {

namespace server {
class Drains;
}  // namespace server

namespace detail {

template <class Options>
constexpr void need_server_options() {
  static_assert(never<Options>,
                "the options of a server are in braces: {.host = \"127.0.0.1\", .port = 8080}");
}

}  // namespace detail

/// The state of a server.
enum class ServerState : std::uint8_t {
  New,       ///< not started yet
  Running,   ///< accepts requests
  Leaving,   ///< accepts requests for Timeouts::drain_delay, then drains
  Draining,  ///< finishes the requests in progress
  Ended,     ///< stopped; start() starts it again
};

/// An HTTP server. Each thread has its own loop, listener and connections; nothing is shared.
///
/// Every function may be called from any thread, including the server's own (handlers, hooks,
/// offloaded calls). The server's own threads never wait for the server: on these, shutdown(),
/// wait() and the destructor return at once, and the shutdown goes on in the background.
///
/// Lifetime:  the router outlives the server's threads and must not change, as all of them read it.
///            The threads are gone once shutdown(), wait() or the destructor has returned on
///            another thread.
class SKUA_API Server {
 public:
  explicit Server(const Router& router SKUA_LIFETIMEBOUND, ServerOptions options = {});
  template <class Self = Server>
  explicit Server(const Router&& router, const ServerOptions& = {}) : Server(router) {
    static_assert(detail::never<Self>, "the router outlives the server: make it a variable");
  }
  template <class Self = Server>
  explicit Server(const Router* router, const ServerOptions& = {}) : Server(*router) {
    static_assert(detail::never<Self>,
                  "a server takes its router by reference: skua::Server server(router)");
  }
  template <class First, class... Rest>
    requires(sizeof...(Rest) != 0 || !std::convertible_to<const First&, ServerOptions>)
  Server(const Router& router, const First&, const Rest&...) : Server(router) {
    detail::need_server_options<First>();
  }
  /// Cancels requests in progress and joins the threads; call shutdown() first to let them finish.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens and starts the threads; returns once requests are accepted. A server that has ended
  /// may be started again; with port 0 it takes another port.
  /// Ends with: AlreadyStarted unless New or Ended; Cancelled if shutdown() or cancel() is called
  ///            meanwhile; AddressInUse, AddressUnavailable, PermissionDenied, InvalidAddress,
  ///            TooManyOpenFiles, Unsupported (back end, TLS), TlsConfiguration (whose message says
  ///            which file is wrong, and how).
  Result<void, Problem> start();
  /// Like start(), but calls `before_threads` in between: the server listens, and port() and url()
  /// are known, but no thread runs yet. A program gives up privileges there; threads inherit what
  /// it keeps. If it returns a Problem, the server stops listening. Exceptions become one.
  /// Ends with: like start(); the Problem; SystemFailure with the exception's text.
  Result<void, Problem> start(const std::function<Result<void, Problem>()>& before_threads);

  [[nodiscard]] ServerState state() const noexcept;
  /// Reports whether the server wants new clients: it is Running. Load balancers ask for this.
  [[nodiscard]] bool is_ready() const noexcept { return state() == ServerState::Running; }
  /// Waits until the server has ended, for any reason; returns at once if it is not running.
  void wait();

  /// Returns the port that the server listens on; 0 before start() and for Unix sockets.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Returns `http://127.0.0.1:8080`, or `https://` if TLS is enabled; `unix:/path` for a Unix
  /// socket. With several listeners, of the first.
  [[nodiscard]] std::string url() const;
  /// Like url(), for each of ServerOptions::listeners.
  [[nodiscard]] std::vector<std::string> urls() const;
  /// Returns the back end of the loops, which start() chooses.
  [[nodiscard]] BackendChoice backend() const noexcept;

  /// Reloads certificates, keys and authorities; open connections keep theirs. If loading fails,
  /// the server keeps its current certificates.
  ///
  /// Ends with: the TLS errors of start(); Unsupported if TLS is not enabled.
  Result<void, Problem> reload_tls();
  /// Returns the SHA-256 of the first certificate as `AB:CD:...`; empty if TLS is not enabled.
  [[nodiscard]] std::string tls_fingerprint() const;
  /// Returns when the first of the certificates expires; nullopt if TLS is not enabled.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> tls_expiry() const;

  /// Sends a text to all WebSockets that are subscribed to a topic: see WebSocket::publish. Does
  /// nothing before start().
  void publish(std::string_view topic, std::string_view text, MessageType type = MessageType::Text);

  /// Returns duplicates of the sockets that the server listens on, for another process: one for
  /// each thread, or those of ServerOptions::listeners. Empty on a thread of the server, and if it
  /// does not listen.
  ///
  /// Waits for: the server's threads, each to handle one event.
  [[nodiscard]] std::vector<ListeningSocket> listening_sockets() const;
  /// Another process accepts connections on the listening sockets from now on: a drain leaves those
  /// that were not accepted yet to it, as well as the path of a Unix socket, and has no delay.
  void share_listening_sockets();

  /// Calls `call` once on each of the server's threads, in between the events that it handles
  /// there; several threads call it at once. Does not wait for them. Returns how many will call it,
  /// unless they end first: none before start() and after the end. What it throws goes to
  /// Hooks::log.
  std::size_t on_each_thread(const std::function<void()>& call);

  /// Drains: stops listening, closes idle connections, lets requests in progress finish, then ends
  /// the threads. For Timeouts::drain_delay before that, it serves as usual but is not ready.
  ///
  /// Waits for: the requests in progress, at most `deadline` (Duration::max(): forever) after the
  ///            delay; the rest is cancelled. If it is called again, the earlier deadline holds,
  ///            and the delay is skipped.
  void shutdown(Duration deadline);
  void shutdown();        ///< with Timeouts::shutdown
  void begin_shutdown();  ///< likewise, but does not wait

  /// Ends everything at once, even a shutdown() that waits in another thread; does not wait.
  void cancel();

  /// Returns the sums over all runs of the server.
  [[nodiscard]] Counters counters() const;

 private:
  friend class server::Drains;
  [[nodiscard]] const std::function<void(LogLevel, std::string_view)>& log() const noexcept;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Serves until SIGINT or SIGTERM, drains, and returns. A second signal skips
/// Timeouts::drain_delay, or ends the drain at once.
/// SIGHUP reloads the certificates if TLS is enabled, and drains otherwise.
///
/// Warnings and errors, such as of a handler that threw, go to standard error unless Hooks::log is
/// set.
///
/// Ends with: the errors of Server::start().
SKUA_API Result<void, Problem> serve(const Router& router, ServerOptions options = {});
template <class First, class... Rest>
  requires(sizeof...(Rest) != 0 || !std::convertible_to<First, ServerOptions>)
Result<void, Problem> serve(const Router& router, First&&, Rest&&...) {
  detail::need_server_options<First>();
  return serve(router);
}

}  // namespace skua
