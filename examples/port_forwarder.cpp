// SPDX-License-Identifier: MIT
// Forwards connections to another address: `example-port_forwarder 127.0.0.1:8080 7007`.
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

// Sends what arrives, as fast as the receiver takes it. The end of one side is passed on; an error
// ends both.
skua::Task<> pass_on(skua::TcpStream& from, skua::TcpStream& to) {
  std::array<char, 16 * 1024> room;
  while (true) {
    const auto count = co_await from.receive(room);
    if (!count && count.error().code() == skua::Errc::Closed) break;
    if (!count) co_return to.close();
    const std::string_view bytes(room.data(), *count);
    const auto sent = co_await to.send(bytes);
    if (!sent) co_return from.close();
  }
  const auto ended = co_await to.shutdown_write();
  if (!ended) from.close();
}

skua::Task<> forward(skua::TcpStream client, skua::Address target) {
  auto server = co_await skua::TcpStream::connect(target, 5s);
  if (!server) co_return void(std::fprintf(stderr, "%s\n", server.error().text.c_str()));
  const auto done = co_await skua::when_all(pass_on(client, *server), pass_on(*server, client));
  static_cast<void>(done);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: example-port_forwarder ADDRESS:PORT PORT\n");
    return 2;
  }
  const auto target = skua::Address::parse(arguments[1]).value();
  const auto port = static_cast<std::uint16_t>(std::atoi(arguments[count - 1]));
  const auto loop = skua::Loop::create().value();
  auto listener =
      skua::Listener::listen(skua::Address::loopback(skua::Address::Family::Ipv4, port)).value();
  auto signals = skua::Signals::watch({SIGINT, SIGTERM}).value();
  signals.on_signal([&loop](int) { loop->stop(); });
  std::printf("listening on %s\n", listener.address().to_string().c_str());
  std::fflush(stdout);

  listener.on_accept([&](skua::TcpStream peer) { loop->spawn(forward(std::move(peer), target)); });
  loop->run();
}
