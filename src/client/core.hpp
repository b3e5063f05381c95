// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/intrusive_list.hpp"
#include "client/authorization.hpp"
#include "client/connector.hpp"
#include "client/pool.hpp"
#include "client/proxy_settings.hpp"
#include "client/resolver.hpp"
#include "client/spare_buffers.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "skua/async.hpp"
#include "skua/client_options.hpp"
#include "skua/cookie_jar.hpp"
#include "skua/url.hpp"
#include "skua/waiter.hpp"
#include "tls/client_context.hpp"
#include "ws/message_coding.hpp"

namespace skua::client {

class WebSocketConnection;

/// What a client is: its options, and what all its connections share. They keep it.
class Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(loop::Loop& loop, ClientOptions options);

  /// How to connect to an origin; for HTTP, or for WebSockets, which HTTP/2 has none of here.
  ///
  /// Ends with: TlsConfiguration.
  Result<ConnectOptions, Problem> connect_options(const Origin& origin, bool is_websocket);
  /// A connection that speaks HTTP to a server; it is the pool's, and keeps this. With `only_http1`
  /// TLS offers no HTTP/2.
  ///
  /// Ends with: as Connector::connect; Unsupported where the server does not speak the version of
  ///            HTTP that is wanted.
  Task<Result<std::unique_ptr<PooledConnection>, Problem>> open(Origin origin, ConnectTimes* times,
                                                                bool only_http1);
  /// Whether such a connection may turn out to speak HTTP/2.
  [[nodiscard]] Pool::Sharing sharing(const Origin& origin, ProxyUse use) const noexcept;

  /// The client is gone: so are the connections that only finish.
  void break_off();
  /// Waits for: the end of those, and of requests that go on.
  /// Ends with: what report() has kept.
  static Task<> finish(std::shared_ptr<Core> core);
  /// A callback has thrown this: told to ClientOptions::on_exception, or kept for finish().
  void report(std::exception_ptr exception) noexcept;

  loop::Loop& loop;
  const ClientOptions options;
  const Url base_url;  // of no scheme: there is none
  const Proxies proxies;
  Resolver resolver;
  Connector connector;
  ws::Codecs codecs;
  net::OutputQueue::Blocks blocks;
  SpareBuffers buffers;
  Pool pool;
  CookieJar jar;
  Authorizations authorizations;
  std::unordered_set<std::string> http1_only;  // keys whose servers agree to HTTP/2, and refuse it
  base::IntrusiveList<WebSocketConnection> websockets;
  skua::detail::WaiterList closed;                               // told whenever one of them is
  std::shared_ptr<Scope> callbacks = std::make_shared<Scope>();  // what then() has begun
  bool is_broken_off = false;

 private:
  void end_callbacks() noexcept;
  [[nodiscard]] bool is_finishing();

  using Context = std::optional<Result<std::shared_ptr<const tls::ClientContext>, Problem>>;
  Result<std::shared_ptr<const tls::ClientContext>, Problem> context(bool only_http1);
  Result<std::unique_ptr<PooledConnection>, Problem> connection_over(net::HeldStream stream,
                                                                     bool is_forwarded);

  std::exception_ptr thrown_{};  // the first
  Context http_tls_{};
  Context http1_tls_{};  // for WebSockets and proxies, too
};

}  // namespace skua::client
