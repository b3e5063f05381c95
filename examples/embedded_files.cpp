// SPDX-License-Identifier: MIT
// Serves a site that is part of the program: `example-embedded_files [PORT]`. CMakeLists.txt has
// `skua_embed_files(example-embedded_files examples/site)`.
#include <skua.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "site.hpp"

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 8080;

  skua::Router router;
  router.get("/{path...}", skua::MemoryFiles(site));

  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
