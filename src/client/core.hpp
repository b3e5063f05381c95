// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/intrusive_list.hpp"
#include "client/authorization.hpp"
#include "client/connect/connector.hpp"
#include "client/connect/proxy_settings.hpp"
#include "client/meter.hpp"
#include "client/recent_servers.hpp"
#include "client/wire/h1_connection.hpp"
#include "client/wire/head_budget.hpp"
#include "client/wire/pool.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "skua/async.hpp"
#include "skua/client_options.hpp"
#include "skua/cookie_jar.hpp"
#include "skua/url.hpp"
#include "skua/waiter.hpp"
#include "sockets/resolver.hpp"
#include "tls/client_context.hpp"
#include "ws/message_coding.hpp"

namespace skua::client {

class WebSocketConnection;

/// The TLS settings of connections that may speak HTTP/2, and of those that may not. Null ones are
/// made when they are needed, because reading the system's trust store is slow. Thread-safe.
struct TlsContexts {
  std::shared_ptr<const tls::ClientContext> http{};
  std::shared_ptr<const tls::ClientContext> http1{};  ///< also for WebSockets and proxies

  /// Ends with: the errors of tls::ClientContext::create.
  static Result<TlsContexts, Problem> create(const ClientOptions& options);
};

/// Returns how the names of a client are looked up.
///
/// Ends with: std::invalid_argument if ClientOptions::hosts or network_interface cannot be used.
[[nodiscard]] ResolverOptions resolver_options(const ClientOptions& options);

/// A client's options and the state that its connections share. They keep it alive.
class Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(loop::Loop& loop, ClientOptions options, TlsContexts tls = {});

  /// Returns how to connect to an origin. WebSockets use HTTP/1.1 only.
  ///
  /// Ends with: TlsConfiguration.
  Result<ConnectOptions, Problem> connect_options(const Origin& origin, bool is_websocket);
  /// Opens an HTTP connection for the pool; it keeps this object alive. With `only_http1`, TLS does
  /// not offer HTTP/2. The connection begins with `preface`.
  ///
  /// Ends with: the errors of Connector::connect; Unsupported if the server does not speak the
  ///            required version of HTTP.
  Task<Result<std::unique_ptr<PooledConnection>, Problem>> open(Origin origin, ConnectTimes* times,
                                                                bool only_http1,
                                                                std::string preface);
  /// Returns whether such a connection may turn out to speak HTTP/2.
  [[nodiscard]] Pool::Sharing sharing(const Origin& origin, ProxyUse use) const noexcept;

  /// Called when the client is destroyed: closes the pool and breaks off abandoned WebSockets.
  void break_off();
  /// Waits for: the end of abandoned WebSockets and of requests in progress.
  /// Ends with: the exception that report() kept, if any (thrown).
  static Task<> finish(std::shared_ptr<Core> core);
  /// Passes a callback's exception to ClientOptions::on_exception, or keeps it for finish().
  void report(std::exception_ptr exception) noexcept;

  loop::Loop& loop;
  const ClientOptions options;
  Meter* const meter;          // of the options; null: nobody counts
  const Url base_url;          // without a scheme: not set
  const Origin base_origin;    // of base_url
  const std::string base_key;  // of connections to it
  const Proxies proxies;
  Resolver resolver;
  Connector connector;
  ws::Codecs codecs;
  net::OutputQueue::Blocks blocks;
  HeadBudget heads;
  SpareBuffers buffers;
  Pool pool;
  CookieJar jar;
  Authorizations authorizations;
  RecentServers http1_only;       // those that negotiate HTTP/2, then refuse
  RecentServers without_tunnels;  // those that refuse tunnels over HTTP/2
  base::IntrusiveList<WebSocketConnection> websockets;
  skua::detail::WaiterList closed;                               // woken when a WebSocket closes
  std::shared_ptr<Scope> callbacks = std::make_shared<Scope>();  // tasks started by then()
  bool is_broken_off = false;

 private:
  void end_callbacks() noexcept;
  [[nodiscard]] bool is_finishing();

  // An error is remembered, too.
  using Context = std::optional<Result<std::shared_ptr<const tls::ClientContext>, Problem>>;
  Result<std::shared_ptr<const tls::ClientContext>, Problem> context(bool only_http1);
  Result<std::unique_ptr<PooledConnection>, Problem> connection_over(net::HeldStream stream,
                                                                     bool only_http1);

  std::exception_ptr thrown_{};  // the first
  Context http_tls_{};
  Context http1_tls_{};
};

}  // namespace skua::client
