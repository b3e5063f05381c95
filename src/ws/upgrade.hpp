// SPDX-License-Identifier: MIT
#pragma once

#include "skua/websocket.hpp"
#include "skua/websocket_handler.hpp"
#include "ws/socket.hpp"

namespace skua::server {
class WebSocketServer;
}

namespace skua::detail {

/// What a response that opens a WebSocket carries for the server: what was agreed on, and who
/// speaks. One of the two is there: `handler`, or `callbacks`.
///
/// Lifetime:  `options` and `callbacks` are the route's.
struct Upgrade {
  const WebSocketOptions* options = nullptr;
  mutable ws::Agreement agreement{};  // taken by whoever opens the socket
  SocketHandler handler{};
  const WebSocketCallbacks* callbacks = nullptr;
  const server::WebSocketServer* server = nullptr;  ///< what goes on behind the handshake
};

}  // namespace skua::detail

namespace skua::ws {

/// The server's side of the opening handshake: a response that carries `upgrade` with what was
/// agreed on, or one that says what is wrong with the request.
///
/// RFC:       6455 §4.2, 8441 §5
Response answer_handshake(Request& request, detail::Upgrade&& upgrade);

}  // namespace skua::ws
