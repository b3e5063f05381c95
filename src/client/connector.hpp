// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/origin.hpp"
#include "client/problem.hpp"
#include "client/race.hpp"
#include "client/resolver.hpp"
#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "tls/client_context.hpp"

namespace skua::client {

/// How a connection is made. Every limit is of its own phase; zero leaves no time to wait.
struct ConnectOptions {
  Duration resolve_limit = 5s;   ///< for the addresses of the name
  Duration connect_limit = 10s;  ///< for a connection to one of them
  Duration tls_limit = 10s;      ///< for the handshake
  /// Speaks TLS, and offers the protocols that it was made with. Shared: immutable. Null: none.
  std::shared_ptr<const tls::ClientContext> tls{};
};

/// Makes connections to servers.
///
/// Lifetime:  loop and resolver outlive it; it outlives the tasks that connect() gave.
class Connector final {
 public:
  Connector(loop::Loop& loop, Resolver& resolver, OpenStream open = open_socket);

  /// A stream to the origin, idle and without anyone who listens: the caller does both, and has to
  /// close it and to keep it until its on_closed(). Its protocol() is what TLS has agreed on.
  ///
  /// Waits for: the name, a connection to one of its addresses, and the TLS handshake. Dropping the
  ///            task closes what there is.
  /// Ends with: TimedOut; the errors of Resolver::resolve; Refused, NotFound (of a Unix path) and
  ///            what else the system says; TlsCertificate, TlsHandshakeFailed, ...; Unsupported
  ///            where TLS is wanted and there is no context.
  /// RFC:       8305
  Task<Outcome<std::unique_ptr<net::Stream>>> connect(const Origin& origin,
                                                      const ConnectOptions& options);

 private:
  Task<Outcome<std::unique_ptr<net::Stream>>> establish(Origin origin, ConnectOptions options);
  Task<Outcome<Addresses>> addresses_of(const Origin& origin, Duration limit);
  Task<Outcome<std::unique_ptr<net::Stream>>> reach(std::string whom, Addresses addresses,
                                                    Duration limit);

  loop::Loop& loop_;
  Resolver& resolver_;
  const OpenStream open_;
};

}  // namespace skua::client
