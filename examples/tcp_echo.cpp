// SPDX-License-Identifier: MIT
// An echo server with blocking sockets: a thread for each connection. Try `nc localhost 7007`.
#include <skua/literals.hpp>
#include <skua/socket.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <stop_token>
#include <string_view>
#include <thread>

namespace {

using namespace skua::literals;

volatile std::sig_atomic_t is_over = 0;

// Waits in steps, so that it notices a stop.
void echo(const std::stop_token& stop, skua::TcpSocket peer) {
  std::array<char, 16 * 1024> room;
  while (!stop.stop_requested()) {
    const auto count = peer.receive(room, 100ms);
    if (count) {
      if (!peer.send_all(std::string_view(room.data(), *count), 10s)) return;
    } else if (count.error().code() != skua::Errc::TimedOut) {
      return;  // Closed: the peer has ended its side
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 7007;
  auto listener = skua::TcpSocket::listen_on(
      skua::Address::loopback(skua::Address::Family::Ipv4, static_cast<std::uint16_t>(port)));
  if (!listener) {
    std::fprintf(stderr, "%s\n", listener.error().text.c_str());
    return 1;
  }
  std::signal(SIGINT, [](int) { is_over = 1; });
  std::signal(SIGTERM, [](int) { is_over = 1; });
  std::printf("listening on %s\n", listener->local_address().to_string().c_str());
  std::fflush(stdout);

  std::list<std::jthread> threads;  // stopped and joined at the end
  while (is_over == 0) {
    auto peer = listener->accept(100ms);
    if (peer) threads.emplace_back(echo, *std::move(peer));
  }
}
