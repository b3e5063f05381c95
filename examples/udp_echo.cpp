// SPDX-License-Identifier: MIT
// A server that sends each datagram back. Try `nc -u localhost 7007`.
#include <skua/literals.hpp>
#include <skua/socket.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace skua::literals;

volatile std::sig_atomic_t is_over = 0;

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 7007;
  const auto family = skua::Address::Family::Ipv4;
  auto socket = skua::UdpSocket::open(family).value();
  socket.bind(skua::Address::loopback(family, static_cast<std::uint16_t>(port))).value();
  std::signal(SIGINT, [](int) { is_over = 1; });
  std::signal(SIGTERM, [](int) { is_over = 1; });
  std::printf("listening on %s\n", socket.local_address().to_string().c_str());
  std::fflush(stdout);

  std::string room(65'507, '\0');  // the longest datagram over IPv4
  while (is_over == 0) {
    const auto datagram = socket.receive(room, 100ms);
    if (!datagram) continue;  // nothing came
    const auto sent = socket.send_to(datagram->from, {room.data(), datagram->size_bytes});
    if (!sent) std::fprintf(stderr, "%s\n", sent.error().message().c_str());
  }
}
