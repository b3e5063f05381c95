// SPDX-License-Identifier: MIT
// A service that restarts without a gap: `example-hand_over [PORT [CHAIN KEY]]`. On SIGUSR2 it
// starts its program anew, hands over its sockets once that serves, and ends. Requests and
// WebSockets in progress end as they began. It tells systemd what happens, and takes sockets from
// it.
#include <skua.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace skua::literals;

int main(int count, char** arguments) {
  const auto argument = [&](int i) { return count > i ? arguments[i] : ""; };
  skua::Service service({.hand_over = true,
                         .command = {arguments, arguments + count},
                         .log = [](skua::LogLevel, std::string_view text) {
                           std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()),
                                        text.data());
                         }});
  const skua::ShutdownSignals signals;  // like the service, before the server's threads

  skua::Router router;
  router.get("/", [] { return "Hello from process " + std::to_string(::getpid()) + "\n"; });
  router.get("/slow", []() -> skua::Task<std::string> {
    co_await skua::sleep(300ms);
    co_return "a long answer\n";
  });
  router.websocket("/echo", skua::WebSocketCallbacks{
                                .message = [](skua::WebSocket& socket, skua::Message message) {
                                  socket.send(message.text);
                                }});

  auto inherited = skua::inherited_sockets();  // of systemd, or of the process before this one
  if (!inherited) {
    std::fprintf(stderr, "%s\n", inherited.error().text.c_str());
    return 1;
  }
  skua::ServerOptions options{.host = "127.0.0.1",
                              .port = static_cast<std::uint16_t>(std::atoi(argument(1))),
                              .listeners = *std::move(inherited),
                              .threads = 2};
  options.tls = {.certificate = argument(2), .private_key = argument(3)};
  options.timeouts.drain_grace = 2s;          // for clients on slow networks
  options.timeouts.websocket_spread = 500ms;  // so that not all come back at once
  skua::Server server(router, options);
  if (const auto started = server.start(); !started) {
    std::fprintf(stderr, "cannot serve: %s\n", started.error().text.c_str());
    return 1;
  }
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server, service);
}
