// SPDX-License-Identifier: MIT
// The smallest server: one route, one line of answer. Try `curl localhost:8080`.
//
// A program that need not print its address ends after the route, with
//   skua::serve(router, {.port = 8080}).value();
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  skua::Router router;
  router.get("/", [] { return "Hello, world!"; });

  // What serve() does, step by step. Port 0 takes any free one, and url() tells which.
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;  // first, so that no Ctrl-C is lost
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();  // throws, with the reason, where it cannot listen
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
