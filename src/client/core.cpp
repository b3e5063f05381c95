// SPDX-License-Identifier: MIT
#include "client/core.hpp"

#include <string>
#include <utility>
#include <vector>

#include "client/h1_connection.hpp"
#include "client/websocket_connection.hpp"
#include "h2/session.hpp"

namespace skua::client {
namespace {

constexpr std::size_t kept_blocks = 64;

PoolLimits pool_limits(const ClientOptions& options) {
  PoolLimits limits;
  limits.per_host = options.connections_per_host;
  limits.total = options.connections;
  limits.idle = options.timeouts.idle_connection;
  return limits;
}

h1::ResponseLimits response_limits(const ClientOptions& options) {
  h1::ResponseLimits limits;
  limits.head.head_bytes = options.limits.head_bytes;
  limits.head.fields = options.limits.fields;
  return limits;
}

std::vector<std::string> protocols(HttpVersions versions) {
  if (versions == HttpVersions::Http1 || !h2::is_available()) return {"http/1.1"};
  if (versions == HttpVersions::Http2) return {"h2"};
  return {"h2", "http/1.1"};
}

}  // namespace

Core::Core(loop::Loop& thread_loop, ClientOptions told)
    : loop(thread_loop),
      options(std::move(told)),
      resolver(loop),
      connector(loop, resolver),
      blocks(kept_blocks),
      pool(loop, pool_limits(options)) {}

// The trust of a whole system takes a while to read: once, for those who need it.
Outcome<ConnectOptions> Core::connect_options(bool is_secure, bool is_websocket) {
  ConnectOptions made;
  made.resolve_limit = options.timeouts.resolve;
  made.connect_limit = options.timeouts.connect;
  made.tls_limit = options.timeouts.handshake;
  if (!is_secure) return made;
  Context& context = is_websocket ? websocket_tls_ : http_tls_;
  if (!context) {
    context =
        tls::ClientContext::create(options.tls, is_websocket ? std::vector<std::string>{"http/1.1"}
                                                             : protocols(options.versions));
  }
  if (!*context) return context->error();
  made.tls = **context;
  return made;
}

Task<Outcome<std::unique_ptr<PooledConnection>>> Core::open(Origin origin, ClientTimings* timings) {
  const loop::Instant began = loop.now();
  Outcome<ConnectOptions> connecting = connect_options(origin.is_secure, false);
  if (!connecting) co_return connecting.error();
  Outcome<std::unique_ptr<net::Stream>> stream = co_await connector.connect(origin, *connecting);
  if (!stream) co_return stream.error();
  timings->connected = loop.now() - began;
  std::unique_ptr<PooledConnection> connection = std::make_unique<H1Connection>(
      shared_from_this(), loop, pool, blocks, *std::move(stream), response_limits(options));
  co_return std::move(connection);
}

void Core::break_off() {
  is_broken_off = true;
  // Later, as it may be one of these that has destroyed the client.
  loop.post([ended = std::shared_ptr<Scope>(std::move(callbacks))] {});
  pool.close_all();
  websockets.for_each([](WebSocketConnection& connection) {
    if (connection.is_abandoned()) connection.break_off();
  });
}

bool Core::is_finishing() {
  bool is_one = false;
  websockets.for_each(
      [&](const WebSocketConnection& connection) { is_one |= connection.is_abandoned(); });
  return is_one;
}

Task<> Core::finish() {
  pool.close_all();
  co_await pool.closed();
  while (is_finishing()) co_await closed.wait();
}

}  // namespace skua::client
