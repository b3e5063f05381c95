// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/connect/origin.hpp"
#include "client/connect/proxy.hpp"
#include "client/problem.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "sockets/race.hpp"
#include "sockets/resolver.hpp"
#include "tls/client_context.hpp"

namespace skua::client {

using sockets::Addresses;
using sockets::OpenStream;
using sockets::Resolver;
using sockets::ResolverOptions;

/// When the steps of connecting finished: to the proxy, if any; `secured` is the last handshake.
struct ConnectTimes {
  std::optional<loop::Instant> resolved{};
  std::optional<loop::Instant> connected{};
  std::optional<loop::Instant> secured{};
};

/// How to connect. Each limit covers its own phase; zero leaves no time to wait.
struct ConnectOptions {
  Duration resolve_limit = 5s;   ///< for resolving the name
  Duration connect_limit = 10s;  ///< for connecting to one of the addresses
  Duration tls_limit = 10s;      ///< for the handshake; with a proxy, for each of the two
  Duration tunnel_limit = 30s;   ///< for a proxy's answer; it connects to the origin meanwhile
  /// Speaks TLS and offers the protocols that it was created with. Immutable. Null: no TLS.
  std::shared_ptr<const tls::ClientContext> tls{};
  /// The proxy for all origins except Unix sockets. Shared: it remembers challenges. Null: direct.
  /// It forwards requests that are not secure (absolute form), unless `tunnels` is set.
  std::shared_ptr<ProxyAccess> proxy{};
  bool tunnels = false;  ///< uses CONNECT even if the origin is not secure; SOCKS always does
  /// Speaks TLS to the proxy; should offer only `http/1.1`. Null: no TLS.
  std::shared_ptr<const tls::ClientContext> proxy_tls{};
  std::string network_interface{};  ///< where TCP connections start, see net::LocalEnd; empty: any
  ConnectTimes* times = nullptr;    ///< filled in unless null; outlives the task
  std::string preface{};            ///< sent first, before TLS; short, and only without a proxy
};

/// Opens connections to servers.
///
/// Lifetime:  the loop and the resolver outlive it; it outlives the tasks from connect().
class Connector final {
 public:
  Connector(loop::Loop& loop, Resolver& resolver, OpenStream open = sockets::open_socket);

  /// Returns a stream to the origin, or to a forwarding proxy: idle and without a listener. The
  /// caller attaches one, and must close the stream and keep it until its on_closed(). Its
  /// protocol() is the one that TLS negotiated.
  ///
  /// Waits for: name resolution, a connection to one of the addresses, and the TLS handshake; with
  ///            a proxy, all of these with it, and then its tunnel. Dropping the task closes the
  ///            stream.
  /// Ends with: TimedOut; the errors of Resolver::resolve and net::LocalEnd::find; Refused,
  /// NotFound (for a Unix path) and
  ///            other system errors; TlsCertificate, TlsHandshakeFailed, ...; Unsupported if TLS
  ///            is required and there is no context; ProxyRefused and the other errors of
  ///            Tunnel::run and SocksTunnel::run.
  /// RFC:       8305; 9110 §9.3.6; 1928
  Task<Result<net::HeldStream, Problem>> connect(const Origin& origin,
                                                 const ConnectOptions& options);

 private:
  using Connected = Result<net::HeldStream, Problem>;

  Task<Connected> establish(Origin origin, ConnectOptions options);
  Task<Connected> open(const Origin& origin, std::string whom, const tls::ClientContext* tls,
                       const ConnectOptions& options);
  Task<Connected> to_proxy(const ConnectOptions& options);
  Task<Connected> tunnel(const Origin& origin, const ConnectOptions& options);
  Task<Connected> http_tunnel(const Origin& origin, const ConnectOptions& options);
  Task<Connected> socks_tunnel(const Origin& origin, const ConnectOptions& options);
  Task<Connected> secure(net::HeldStream stream, const Origin& origin, std::string whom,
                         const tls::ClientContext& tls, Duration limit);
  [[nodiscard]] Result<OpenStream, Problem> opener(const Origin& origin,
                                                   const ConnectOptions& options) const;
  Task<Result<Addresses, Problem>> addresses_of(const Origin& origin, Duration limit);

  loop::Loop& loop_;
  Resolver& resolver_;
  const OpenStream open_;
};

}  // namespace skua::client
