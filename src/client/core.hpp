// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "base/intrusive_list.hpp"
#include "client/connector.hpp"
#include "client/resolver.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "skua/client.hpp"
#include "skua/waiter.hpp"
#include "tls/client_context.hpp"
#include "ws/message_coding.hpp"

namespace skua::client {

class WebSocketConnection;

/// What a client is: its options, and what all its connections share. They keep it.
class Core final {
 public:
  Core(loop::Loop& loop, ClientOptions options);

  /// How to connect, with TLS or without.
  ///
  /// Ends with: TlsConfiguration.
  Outcome<ConnectOptions> connect_options(bool is_secure);

  /// The client is gone: so are the connections that only finish.
  void break_off();
  /// Waits for: the end of those.
  Task<> finish();

  loop::Loop& loop;
  const ClientOptions options;
  Resolver resolver;
  Connector connector;
  ws::Codecs codecs;
  net::OutputQueue::Blocks blocks;
  base::IntrusiveList<WebSocketConnection> websockets;
  skua::detail::WaiterList closed;  // told whenever one of them is
  bool is_broken_off = false;

 private:
  [[nodiscard]] bool is_finishing();

  std::optional<Outcome<std::shared_ptr<const tls::ClientContext>>> tls_{};
};

}  // namespace skua::client
