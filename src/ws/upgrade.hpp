// SPDX-License-Identifier: MIT
#pragma once

#include "skua/websocket.hpp"
#include "skua/websocket_handler.hpp"
#include "ws/socket.hpp"

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
};

}  // namespace skua::detail
