// SPDX-License-Identifier: MIT
//
// Rung 7, skua. In: requests. Out: the same answers, by the library.
// The idea: all of the above, with HTTP that is complete, and with timeouts.

#include <skua.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

using namespace skua::literals;

int main(int count, char** arguments) {
  skua::Router router;
  router.get("/", [] { return "Hello, World!"; });
  router.post("/", [](skua::Request& request) -> skua::Task<std::string> {
    std::uint64_t bytes = 0;
    while (true) {
      const std::optional<skua::Bytes> piece = co_await request.read();
      if (!piece) co_return std::to_string(bytes);
      bytes += piece->size();
    }
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router,
                      {.host = "127.0.0.1",
                       .port = static_cast<std::uint16_t>(port),
                       .limits = {.field_line_bytes = 64_KiB, .streamed_body_bytes = 10_MiB}});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
