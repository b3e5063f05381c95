// SPDX-License-Identifier: MIT
#include "client/core.hpp"

#include <utility>

#include "client/websocket_connection.hpp"

namespace skua::client {
namespace {

constexpr std::size_t kept_blocks = 64;

}  // namespace

Core::Core(loop::Loop& thread_loop, ClientOptions told)
    : loop(thread_loop),
      options(std::move(told)),
      resolver(loop),
      connector(loop, resolver),
      blocks(kept_blocks) {}

// The trust of a whole system takes a while to read: once, for those who need it.
Outcome<ConnectOptions> Core::connect_options(bool is_secure) {
  ConnectOptions made;
  made.resolve_limit = options.timeouts.resolve;
  made.connect_limit = options.timeouts.connect;
  made.tls_limit = options.timeouts.handshake;
  if (!is_secure) return made;
  if (!tls_) tls_ = tls::ClientContext::create(options.tls, {"http/1.1"});
  if (!*tls_) return tls_->error();
  made.tls = **tls_;
  return made;
}

void Core::break_off() {
  is_broken_off = true;
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
  while (is_finishing()) co_await closed.wait();
}

}  // namespace skua::client
