// SPDX-License-Identifier: MIT
// In: the request and the route of a WebSocket. Out: what takes its connection or its stream over.
#include "server/websocket/upgrades.hpp"

#include <utility>

#include "server/websocket/socket_run.hpp"
#include "server/websocket/takeovers.hpp"

namespace skua {
namespace server {

namespace {

constexpr Takeovers<SocketRun> sockets;
static_assert(sizeof(void*) != 8 ||
              sizeof(H1Socket<SocketRun>) <= 120);  // 128 with the allocator's head

}  // namespace
}  // namespace server

Response detail::open_websocket(Request& request, const WebSocketOptions& options,
                                SocketHandler handler, const WebSocketCallbacks* callbacks) {
  return ws::answer_handshake(request,
                              {&options, {}, std::move(handler), callbacks, &server::sockets});
}

}  // namespace skua
