// SPDX-License-Identifier: MIT
// An echo server in the form for large ones: callbacks, limits, a thread per core. Try
// `nc localhost 7007`.
#include <skua/literals.hpp>
#include <skua/tcp_server.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace skua::literals;

// There is one for each client.
struct Echo {
  static void on_readable(skua::TcpConnection& client) {
    client.send(client.input());
    client.consume_all();
  }

  static skua::Decision on_idle(skua::TcpConnection& client, const skua::TcpIdle&) {
    client.send("Good bye.\n");
    return skua::Decision::Disconnect;
  }

  static void on_disconnect(skua::TcpConnection& client, skua::Error why) {
    std::fprintf(stderr, "%s: %llu bytes, %s\n", client.peer_address().to_string().c_str(),
                 static_cast<unsigned long long>(client.received_bytes()), why.message().c_str());
  }
};

void print_log(skua::LogLevel, std::string_view text) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 7007;
  skua::TcpServer<Echo> server({.host = "127.0.0.1",
                                .port = static_cast<std::uint16_t>(port),
                                .threads = 0,  // one per core
                                .clients = 10'000,
                                .idle = 60s,
                                .log = print_log});
  const auto served = server.run_until_signal([&server] {
    std::printf("listening on %s\n", server.address().to_string().c_str());
    std::fflush(stdout);
  });
  if (served) return 0;
  std::fprintf(stderr, "%s\n", served.error().text.c_str());
  return 1;
}
