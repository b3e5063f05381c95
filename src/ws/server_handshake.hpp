// SPDX-License-Identifier: MIT
#pragma once

#include "skua/websocket.hpp"
#include "skua/websocket_handler.hpp"
#include "ws/socket.hpp"

namespace skua::server {
class WebSocketServer;
}

namespace skua::detail {

/// The data in a response that opens a WebSocket: the agreement and the application's code, which
/// is either `handler` or `callbacks`.
///
/// Lifetime:  `options` and `callbacks` belong to the route.
struct Upgrade {
  const WebSocketOptions* options = nullptr;
  mutable ws::Agreement agreement{};  // taken when the socket opens
  SocketHandler handler{};
  const WebSocketCallbacks* callbacks = nullptr;
  const server::WebSocketServer* server = nullptr;  ///< takes over after the handshake
};

}  // namespace skua::detail

namespace skua::ws {

/// Performs the server's side of the opening handshake. Returns a response that carries `upgrade`
/// with the agreement, or one that explains what is wrong with the request.
///
/// RFC:       6455 §4.2, 8441 §5
Response answer_handshake(Request& request, detail::Upgrade&& upgrade);

}  // namespace skua::ws
