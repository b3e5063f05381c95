// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "skua/websocket_message.hpp"
#include "ws/wire.hpp"

namespace skua::ws {

class Socket;

/// A handle to a socket for other threads, which may outlive the socket. Calls go through the
/// mailbox of the socket's thread.
class RemoteSocket final : public std::enable_shared_from_this<RemoteSocket> {
 public:
  RemoteSocket(Socket& socket, Poster post) : socket_(&socket), post_(std::move(post)) {}

  // Any thread.

  void send(MessageType type, std::string text);
  void close(CloseCode code, std::string reason);
  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }

  // The socket's thread.

  void closed() noexcept { is_open_.store(false, std::memory_order_relaxed); }
  /// Called when the socket is destroyed.
  void leave() noexcept {
    socket_ = nullptr;
    closed();
  }

 private:
  Socket* socket_;  // used only on its thread
  Poster post_;
  std::atomic<bool> is_open_{true};
};

}  // namespace skua::ws
