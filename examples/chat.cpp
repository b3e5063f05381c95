// SPDX-License-Identifier: MIT
// WebSockets: a chat page with rooms, their history, and the people in them.
// Usage: `example-chat [PORT [FOLDER]]`, where FOLDER has the page.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>

#include "chat/rooms.hpp"

int main(int count, char** arguments) {
  const skua::ShutdownSignals signals;
  skua::Topics topics({.history = 100});
  skua::Router router;
  router.websocket("/chat",
                   [&topics](skua::WebSocket& socket) { return chat::talk(topics, socket); },
                   {.message_bytes = 4096});
  router.get("/{path...}",
             skua::FileHandler::open(count > 2 ? arguments[2] : "examples/chat").value());

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
