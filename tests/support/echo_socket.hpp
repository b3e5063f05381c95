// SPDX-License-Identifier: MIT
#pragma once

#include "skua/task.hpp"
#include "skua/websocket.hpp"

namespace skua::testing {

/// A WebSocket handler that sends every message back with its type.
inline Task<> echo(WebSocket& socket) {
  while (auto message = co_await socket.receive()) {
    if (message->type == MessageType::Text) {
      co_await socket.send(message->text);
    } else {
      co_await socket.send(message->bytes());
    }
  }
}

}  // namespace skua::testing
