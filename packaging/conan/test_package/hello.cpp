// SPDX-License-Identifier: MIT
// Starts a server, asks it, and exits with 0 if the answer is right.
#include <skua.hpp>

#include <cstdio>
#include <string>

int main() {
  skua::Router router;
  router.get("/", [] { return "Hello, world!"; });
  skua::Server server(router, {.host = "127.0.0.1", .port = 0});
  server.start().value();
  const std::string answer = skua::blocking::get(server.url()).value();
  std::printf("%s\n", answer.c_str());
  return answer == "Hello, world!" ? 0 : 1;
}
