// SPDX-License-Identifier: MIT
// A chat without a server: every line goes to a group, and to all who have joined it. Start it in
// two terminals: `example-multicast_chat`, or over IPv6 `example-multicast_chat [ff12::71]:7007`.
#include <skua/literals.hpp>
#include <skua/socket.hpp>

#include <cstdio>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>

namespace {

using namespace skua::literals;

void show(const std::stop_token& stop, skua::UdpSocket& socket) {
  std::string room(65'507, '\0');
  while (!stop.stop_requested()) {
    const auto datagram = socket.receive(room, 100ms);
    if (!datagram) continue;  // nothing came
    const std::string from = datagram->from.to_string();
    std::printf("%s: %.*s\n", from.c_str(), static_cast<int>(datagram->size_bytes), room.data());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const char* const name = count > 1 ? arguments[1] : "239.255.0.71:7007";
  const skua::Address group = skua::Address::parse(name).value();
  auto receiver = skua::UdpSocket::open(group.family()).value();
  receiver.set_reuse_address(true).value();  // several members on one machine
  receiver.bind(skua::Address::any(group.family(), group.port())).value();
  auto sender = skua::UdpSocket::open(group.family()).value();
  if (count > 2) {  // the number of a network interface
    const auto interface = static_cast<std::uint32_t>(std::stoul(arguments[2]));
    receiver.join(group, interface).value();
    sender.set_multicast_interface(interface).value();
  } else {
    receiver.join(group).value();
  }
  std::printf("listening on %s\n", group.to_string().c_str());
  std::fflush(stdout);

  const std::jthread shower([&receiver](const std::stop_token& stop) { show(stop, receiver); });
  for (std::string line; std::getline(std::cin, line);) sender.send_to(group, line).value();
}
