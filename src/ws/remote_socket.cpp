// SPDX-License-Identifier: MIT
#include "ws/remote_socket.hpp"

#include <utility>

#include "ws/socket.hpp"

namespace skua::ws {

void RemoteSocket::send(MessageType type, std::string text) {
  if (!is_open()) return;
  post_([self = shared_from_this(), type, text = std::move(text)] {
    if (self->socket_ != nullptr) self->socket_->send(type, text, Socket::Sending::Now);
  });
}

void RemoteSocket::close(CloseCode code, std::string reason) {
  if (!is_open()) return;
  post_([self = shared_from_this(), code, reason = std::move(reason)] {
    if (self->socket_ != nullptr) self->socket_->close(code, reason);
  });
}

}  // namespace skua::ws
