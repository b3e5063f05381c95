// SPDX-License-Identifier: MIT
//
// Shared by all rungs: refusals, and how a socket begins and ends.

#include "ladder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace ladder {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

std::string refusal(Status why) {
  const auto with = [](std::string_view line) {
    return std::string("HTTP/1.1 ").append(line) +
           "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  };
  switch (why) {
    case Status::MethodNotAllowed: return with("405 Method Not Allowed\r\nAllow: GET, POST");
    case Status::ContentTooLarge: return with("413 Content Too Large");
    case Status::HeadTooLarge: return with("431 Request Header Fields Too Large");
    case Status::NotImplemented: return with("501 Not Implemented");
    case Status::VersionNotSupported: return with("505 HTTP Version Not Supported");
    case Status::BadRequest:
    case Status::Ok: break;
  }
  return with("400 Bad Request");
}

std::uint16_t port_argument(int count, char** arguments) {
  return count > 1 ? static_cast<std::uint16_t>(std::atoi(arguments[1])) : 8080;
}

int open_listener(std::uint16_t port, bool shared) {
  // A peer that has left is an error of one write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) fail("socket");
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (shared) setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  // Connections inherit this: without it, a second small send waits for the peer to confirm the
  // first, which may take 40 ms.
  setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in address = local_address(port);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail("bind");
  }
  if (listen(listener, SOMAXCONN) != 0) fail("listen");
  return listener;
}

std::uint16_t port_of(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void announce(int listener) {
  std::printf("listening on http://127.0.0.1:%d\n", port_of(listener));
  std::fflush(stdout);
}

int accept_connection(int listener) {
  while (true) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;  // that peer has left already
    const timeval patience{.tv_sec = 5, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
  }
}

void close_gently(int fd) {
  using Clock = std::chrono::steady_clock;
  shutdown(fd, SHUT_WR);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(2);
  std::array<char, std::size_t{64} * 1024> unread;
  while (Clock::now() < end && recv(fd, unread.data(), unread.size(), 0) > 0) {
  }
  close(fd);
}

}  // namespace ladder
