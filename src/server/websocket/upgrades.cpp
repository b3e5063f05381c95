// SPDX-License-Identifier: MIT
// The entry point for WebSocket routes. Nothing else refers to it: see websocket_server.hpp.
#include "server/websocket/upgrades.hpp"

#include <utility>

#include "server/websocket/h1_socket.hpp"
#include "server/websocket/h2_socket.hpp"

namespace skua {
namespace server {
namespace {

class Sockets final : public WebSocketServer {
 public:
  std::unique_ptr<SocketProtocol> on_connection(Resources& resources, net::OutputQueue& output,
                                                ProtocolOwner& owner,
                                                const detail::Upgrade& upgrade) const override {
    return std::make_unique<H1Socket>(resources, output, owner, upgrade);
  }
  std::unique_ptr<SocketStream> on_stream(Resources& resources, StreamOwner& owner,
                                          h2::Connection& protocol, h2::Stream& stream,
                                          const detail::Upgrade& upgrade) const override {
    return std::make_unique<H2Socket>(resources, owner, protocol, stream, upgrade);
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
