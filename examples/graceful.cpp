// SPDX-License-Identifier: MIT
// A server that logs what it does and shuts down gracefully: after SIGTERM or Ctrl-C, requests in
// progress finish; a second signal cancels them.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

using namespace skua::literals;

namespace {

// Hooks run on the server's threads, several at once. One printf() writes one whole line; stderr
// keeps stdout free for the address.
skua::Hooks make_hooks() {
  return {
      .on_response =
          [](const skua::RequestRecord& record) {
            std::fprintf(stderr, "%.*s %.*s %u %llu\n", static_cast<int>(record.peer.size()),
                         record.peer.data(), static_cast<int>(record.target.size()),
                         record.target.data(), skua::code(record.status),
                         static_cast<unsigned long long>(record.body_bytes));
          },
      .log =
          [](skua::LogLevel, std::string_view text) {
            std::fprintf(stderr, "server: %.*s\n", static_cast<int>(text.size()), text.data());
          },
  };
}

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  skua::Router router;
  router.get("/", [] { return "Hello, and good bye.\n"; });
  // The peer gets a 500 and no details; hooks.log gets the text.
  router.get("/broken", []() -> std::string { throw std::runtime_error("a bug of mine"); });

  const skua::ShutdownSignals signals;  // before the server's threads, which inherit the mask
  skua::Server server(router, {.host = "127.0.0.1",
                               .port = static_cast<std::uint16_t>(port),
                               .timeouts = {.shutdown = 5s},  // then the rest is cancelled
                               .hooks = make_hooks()});
  if (const auto started = server.start(); !started) {
    std::fprintf(stderr, "cannot serve: %s\n", started.error().message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
  std::fprintf(stderr, "drained after %llu responses\n",
               static_cast<unsigned long long>(server.counters().responses));
}
