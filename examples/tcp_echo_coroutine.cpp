// SPDX-License-Identifier: MIT
// An echo server on a loop: a task for each connection. Try `nc localhost 7007`.
#include <skua/async.hpp>
#include <skua/literals.hpp>
#include <skua/loop.hpp>
#include <skua/stream.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace skua::literals;

skua::Task<> echo(skua::TcpStream peer) {
  std::array<char, 16 * 1024> room;
  while (true) {
    const auto count = co_await peer.receive(room, 60s);
    if (!count) break;  // Closed: the peer has ended its side
    const std::string_view bytes(room.data(), *count);
    const auto sent = co_await peer.send(bytes, 10s);
    if (!sent) co_return;
  }
  co_await peer.finish();
}

skua::Task<> serve(skua::Listener listener) {
  skua::Scope peers;  // dropped with this task
  while (true) {
    auto peer = co_await listener.accept();
    if (peer) peers.spawn(echo(*std::move(peer)));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 7007;
  const auto loop = skua::Loop::create().value();
  auto listener = skua::Listener::listen(
      skua::Address::loopback(skua::Address::Family::Ipv4, static_cast<std::uint16_t>(port)));
  if (!listener) {
    std::fprintf(stderr, "%s\n", listener.error().text.c_str());
    return 1;
  }
  auto signals = skua::Signals::watch({SIGINT, SIGTERM}).value();
  signals.on_signal([&loop](int) { loop->stop(); });
  std::printf("listening on %s\n", listener->address().to_string().c_str());
  std::fflush(stdout);

  loop->spawn(serve(*std::move(listener)));
  loop->run();
}
