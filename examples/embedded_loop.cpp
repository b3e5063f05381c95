// SPDX-License-Identifier: MIT
// Sockets in a program that waits in a loop of its own. What is typed goes to all connections, for
// instance of `nc localhost 7007`; what they send is printed.
#include <skua/loop.hpp>
#include <skua/stream.hpp>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <list>

namespace {

int milliseconds(skua::Duration limit) {
  if (limit == skua::Duration::max()) return -1;  // no timer runs
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(limit).count());
}

}  // namespace

int main(int count, char** arguments) {
  const auto port = static_cast<std::uint16_t>(count > 1 ? std::atoi(arguments[count - 1]) : 7007);
  const auto loop = skua::Loop::create().value();
  bool is_over = false;
  auto signals = skua::Signals::watch({SIGINT, SIGTERM}).value();
  signals.on_signal([&](int) { is_over = true; });

  std::list<skua::TcpStream> peers;
  const auto address = skua::Address::loopback(skua::Address::Family::Ipv4, port);
  auto listener = skua::Listener::listen(address).value();
  listener.on_accept([&peers](skua::TcpStream accepted) {
    const auto peer = peers.insert(peers.end(), std::move(accepted));
    peer->on_receive([](std::string_view bytes) {
      std::printf("%.*s", static_cast<int>(bytes.size()), bytes.data());
      std::fflush(stdout);
    });
    peer->on_end([&peers, peer](skua::Error) { peers.erase(peer); });
  });

  auto typed = skua::DescriptorWatch::create(STDIN_FILENO).value();  // somebody else's descriptor
  typed.on_readable([&] {
    std::array<char, 4096> room;
    const ssize_t size = ::read(STDIN_FILENO, room.data(), room.size());
    if (size <= 0) return void(is_over = true);
    for (auto& peer : peers) peer.write({room.data(), static_cast<std::size_t>(size)});
  });
  std::printf("listening on %s\n", listener.address().to_string().c_str());
  std::fflush(stdout);

  while (!is_over) {
    std::array<pollfd, 1> entries{{{loop->descriptor(), POLLIN, 0}}};  // and the program's own
    ::poll(entries.data(), entries.size(), milliseconds(loop->wait_limit()));
    loop->poll();
  }
}
