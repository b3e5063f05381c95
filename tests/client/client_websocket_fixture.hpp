// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>
#include <string_view>

#include "client_fixture.hpp"

namespace skua::testing {

/// A ClientTest for WebSockets.
class ClientWebSocket : public ClientTest {
 protected:
  std::string url(std::string_view target) {
    std::string made = ClientTest::url(target);
    return made.replace(0, 4, "ws");
  }

  /// A handler that passes its socket's close reason to `reason_seen()`.
  std::function<Task<>(WebSocket&)> keep_reason() {
    return [this](WebSocket& socket) -> Task<> {
      while (co_await socket.receive()) continue;
      seen_.set_value(socket.close_reason());
    };
  }
  CloseReason reason_seen() {
    auto future = seen_.get_future();
    if (future.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      ADD_FAILURE() << "the server's handler is still running";
      return {};
    }
    return future.get();
  }
  static Task<> talk(skua::Client& client, std::string to) {
    auto socket = co_await client.websocket(to);
    if (!socket) co_return;
    for (int i = 0; i < 3; ++i) {
      co_await socket->send("x");
      co_await socket->receive();
    }
    socket->close();
    co_await socket->receive();
    co_await client.close();
  }

  std::promise<CloseReason> seen_;
};

}  // namespace skua::testing
