// SPDX-License-Identifier: MIT
//
// In: a port, and a path for WebSockets. Out: connections, and a check of the bytes that they
// receive. The idea: the handshake key is constant, and so is its only correct response. Without
// extensions a message in one frame has only one encoding, so comparing bytes is a complete check.

#include "connections.hpp"

#include "../raw/frames.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace bench::load {
namespace {

constexpr int patience_milliseconds = 10'000;

// Reads the head of the response and nothing more: bytes after it belong to the frames.
std::string receive_head(int fd) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char next = 0;
    const ssize_t received = recv(fd, &next, 1, 0);
    if (received < 0 && errno == EAGAIN) {
      pollfd wanted{fd, POLLIN, 0};
      if (poll(&wanted, 1, patience_milliseconds) == 1) continue;
    }
    if (received <= 0) throw std::runtime_error("no response to the handshake: " + head);
    head.push_back(next);
  }
  return head;
}

}  // namespace

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd wanted{fd, POLLOUT, 0};
      if (poll(&wanted, 1, patience_milliseconds) != 1) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

int open_connection(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

int open_websocket(std::uint16_t port, const std::string& path) {
  const int fd = open_connection(port);
  const std::string request = "GET " + path +
                              " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                              "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
                              std::string(raw::handshake_key) + "\r\n\r\n";
  if (!send_all(fd, request)) throw std::runtime_error("cannot send the handshake");
  const std::string head = receive_head(fd);
  if (!head.starts_with("HTTP/1.1 101 ") || head.find(raw::handshake_accept) == head.npos) {
    throw std::runtime_error("the handshake failed: " + head.substr(0, head.find("\r\n")));
  }
  return fd;
}

int Repetition::take(std::string_view bytes) noexcept {
  int ended = 0;
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), frame_.size() - at_);
    if (std::memcmp(bytes.data(), frame_.data() + at_, piece) != 0) return -1;
    bytes.remove_prefix(piece);
    at_ += piece;
    if (at_ != frame_.size()) continue;
    at_ = 0;
    ++ended;
  }
  return ended;
}

}  // namespace bench::load
