// SPDX-License-Identifier: MIT
// Serves a folder, and an API beside it: `example-files [PORT [FOLDER]]`.
#include <skua.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

using namespace skua::literals;

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const std::string folder = count > 2 ? arguments[2] : "examples/site";

  // ETags, 304, ranges and index files are built in; no path leads out of the folder.
  auto site = skua::FileHandler::open(folder, {.listing = true});
  if (!site) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(), site.error().message().c_str());
    return 1;
  }

  skua::Router router;
  std::atomic<int> calls = 0;  // several threads may call a handler at once
  router.get("/api/calls", [&calls] {
    return skua::Response::json("{\"calls\":" + std::to_string(++calls) + "}\n");
  });
  // Serves the folder below a path as well; there, clients may cache its files for an hour.
  router.files("/assets", folder, {.max_age = 1h});
  // The most specific route wins, so the folder at / gets only what no other route takes.
  router.get("/{path...}", *std::move(site));

  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
