// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/origin.hpp"
#include "client/problem.hpp"
#include "client/proxy_access.hpp"
#include "client/race.hpp"
#include "client/resolver.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "tls/client_context.hpp"

namespace skua::client {

/// When the steps to a connection were done; of a proxy's, where there is one.
struct ConnectTimes {
  std::optional<loop::Instant> resolved{};
  std::optional<loop::Instant> connected{};
  std::optional<loop::Instant> secured{};
};

/// How a connection is made. Every limit is of its own phase; zero leaves no time to wait.
struct ConnectOptions {
  Duration resolve_limit = 5s;   ///< for the addresses of the name
  Duration connect_limit = 10s;  ///< for a connection to one of them
  Duration tls_limit = 10s;      ///< for the handshake; with a proxy for each of the two
  Duration tunnel_limit = 30s;   ///< for a proxy's answer; it connects to the origin meanwhile
  /// Speaks TLS, and offers the protocols that it was made with. Shared: immutable. Null: none.
  std::shared_ptr<const tls::ClientContext> tls{};
  /// The way to every origin but a Unix socket. Shared: it learns what the proxy asks for. Null:
  /// straight. It gets requests that are not secure in absolute form, unless `tunnels`.
  std::shared_ptr<ProxyAccess> proxy{};
  bool tunnels = false;  ///< through a proxy, by CONNECT, also where the origin is not secure
  /// Speaks TLS to the proxy, and ought to offer `http/1.1` only. Null: none.
  std::shared_ptr<const tls::ClientContext> proxy_tls{};
  ConnectTimes* times = nullptr;  ///< told, unless null; outlives the task
};

/// Makes connections to servers.
///
/// Lifetime:  loop and resolver outlive it; it outlives the tasks that connect() gave.
class Connector final {
 public:
  Connector(loop::Loop& loop, Resolver& resolver, OpenStream open = open_socket);

  /// A stream to the origin, or to the proxy that it is asked for from: idle and without anyone who
  /// listens. The caller does both, and has to close it and to keep it until its on_closed(). Its
  /// protocol() is what TLS has agreed on.
  ///
  /// Waits for: the name, a connection to one of its addresses, and the TLS handshake; where there
  ///            is a proxy, for all of these with it, and then for its tunnel. Dropping the task
  ///            closes what there is.
  /// Ends with: TimedOut; the errors of Resolver::resolve; Refused, NotFound (of a Unix path) and
  ///            what else the system says; TlsCertificate, TlsHandshakeFailed, ...; Unsupported
  ///            where TLS is wanted and there is no context; ProxyRefused and what else Tunnel::run
  ///            ends with.
  /// RFC:       8305; 9110 §9.3.6
  Task<Result<net::HeldStream, Problem>> connect(const Origin& origin,
                                                 const ConnectOptions& options);

 private:
  using Connected = Result<net::HeldStream, Problem>;

  Task<Connected> establish(Origin origin, ConnectOptions options);
  Task<Connected> open(const Origin& origin, std::string whom, const tls::ClientContext* tls,
                       const ConnectOptions& options);
  Task<Connected> to_proxy(const ConnectOptions& options);
  Task<Connected> tunnel(const Origin& origin, const ConnectOptions& options);
  Task<Connected> secure(net::HeldStream stream, const Origin& origin, std::string whom,
                         const tls::ClientContext& tls, Duration limit);
  Task<Result<Addresses, Problem>> addresses_of(const Origin& origin, Duration limit);
  Task<Connected> reach(std::string whom, Addresses addresses, Duration limit);

  loop::Loop& loop_;
  Resolver& resolver_;
  const OpenStream open_;
};

}  // namespace skua::client
