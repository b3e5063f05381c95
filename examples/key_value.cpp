// SPDX-License-Identifier: MIT
// A store that speaks the protocol of Redis: try `redis-cli -p 7007` or `redis-benchmark -p 7007`.
#include <skua/tcp_server.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "key_value/resp.hpp"
#include "key_value/store.hpp"

namespace {

// While a client is slow to take its answers, its commands wait.
constexpr std::size_t max_unsent_bytes = 256 * 1024;

struct Session {
  Store& store;

  skua::Decision on_readable(skua::TcpConnection& client) const try {
    while (client.unsent_bytes() < max_unsent_bytes) {
      std::string_view rest = client.input();
      const std::optional<resp::Words> words = resp::take_command(rest);
      if (!words) break;  // more has to arrive
      if (!words->empty()) client.send(store.answer(*words));
      client.consume(client.input().size() - rest.size());
    }
    return skua::Decision::Keep;
  } catch (const resp::Malformed& error) {
    client.send(std::string("-ERR Protocol error: ").append(error.what()).append("\r\n"));
    return skua::Decision::Disconnect;
  }
  skua::Decision on_writable(skua::TcpConnection& client) const { return on_readable(client); }
};

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 7007;
  Store store;
  skua::TcpServer<Session> server({.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)},
                                  [&store](skua::TcpConnection&) { return Session{store}; });
  const auto served = server.run_until_signal([&server] {
    std::printf("listening on %s\n", server.address().to_string().c_str());
    std::fflush(stdout);
  });
  if (served) return 0;
  std::fprintf(stderr, "%s\n", served.error().text.c_str());
  return 1;
}
