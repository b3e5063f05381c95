// SPDX-License-Identifier: MIT
// The entry point for WebSocket routes. Nothing else refers to it: see websocket_server.hpp.
#include "server/websocket/upgrades.hpp"

#include <utility>

#include "server/websocket/h1_socket.hpp"
#include "server/websocket/h2_socket.hpp"
#include "server/websocket/socket_run.hpp"

namespace skua {
namespace server {

std::unique_ptr<SocketProtocol> Takeovers::on_connection(H1Protocol& owner,
                                                         const detail::Upgrade& upgrade) const {
  return std::make_unique<H1Socket>(owner, *this, upgrade);
}

std::unique_ptr<SocketStream> Takeovers::on_stream(Resources& resources, StreamOwner& owner,
                                                   h2::Connection& protocol, h2::Stream& stream,
                                                   const detail::Upgrade& upgrade) const {
  return std::make_unique<H2Socket>(resources, owner, protocol, stream, *this, upgrade);
}

namespace {

class Sockets final : public Takeovers {
 public:
  std::unique_ptr<Takeover> take_over(Resources& resources, ws::Wire& wire,
                                      const detail::Upgrade& upgrade) const override {
    return std::make_unique<SocketRun>(resources, wire, upgrade);
  }
};

constexpr Sockets sockets;

}  // namespace
}  // namespace server

Response detail::open_websocket(Request& request, const WebSocketOptions& options,
                                SocketHandler handler, const WebSocketCallbacks* callbacks) {
  return ws::answer_handshake(request,
                              {&options, {}, std::move(handler), callbacks, &server::sockets});
}

}  // namespace skua
