// SPDX-License-Identifier: MIT
// The smallest server: one route, one line of text. Try `curl localhost:8080`.
//
// A program that does not print its address only needs, after the route,
//   skua::serve(router, {.port = 8080}).value();
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  skua::Router router;
  router.get("/", [] { return "Hello, world!"; });

  // The steps of serve(). Port 0 takes any free port; url() tells which.
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;  // first, so that no Ctrl-C is lost
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();  // throws, with the reason, if it cannot listen
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
