// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "server/websocket/h1_socket.hpp"
#include "server/websocket/h2_socket.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

/// Gives connections and streams to a `User` each, which becomes a part of H1Socket or H2Socket.
/// Its constructor takes a Carrier and the upgrade; its other functions are those of SocketRun.
template <class User>
class Takeovers final : public WebSocketServer {
 public:
  [[nodiscard]] std::unique_ptr<SocketProtocol> on_connection(
      H1Protocol& owner, const detail::Upgrade& upgrade) const override {
    return std::make_unique<H1Socket<User>>(owner, upgrade);
  }
  [[nodiscard]] std::unique_ptr<SocketStream> on_stream(
      Resources& resources, StreamOwner& owner, h2::Connection& protocol, h2::Stream& stream,
      const detail::Upgrade& upgrade) const override {
    return std::make_unique<H2Socket<User>>(resources, owner, protocol, stream, upgrade);
  }
};

}  // namespace skua::server
