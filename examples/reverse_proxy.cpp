// SPDX-License-Identifier: MIT
// A server in front of another: `example-reverse_proxy [PORT [UPSTREAM]]`. It checks a token,
// passes /api on to the upstream server, and answers the rest itself.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

using namespace skua::literals;

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const std::string upstream = count > 2 ? arguments[2] : "http://127.0.0.1:3000/";

  skua::Router api;
  // Runs before anything is passed on: the upstream server sees only requests with the token.
  api.use([](skua::Request& request) -> std::optional<skua::Response> {
    if (request.header("Authorization") == "Bearer gull") return std::nullopt;
    return skua::Response(skua::Status::Unauthorized).header("WWW-Authenticate", "Bearer");
  });
  // The URL has a path, `/`, which replaces `/api`.
  api.any("/{path...}", skua::ReverseProxy(upstream, {.timeouts = {.response = 10s}}));

  skua::Router router;
  router.mount("/api", std::move(api));
  router.get("/", [] { return "The API is below /api.\n"; });

  skua::ServerOptions options{.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)};
  // Why a request got 502 or 504 is for the log only.
  options.hooks.log = [](skua::LogLevel, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  const skua::ShutdownSignals signals;
  skua::Server server(router, options);
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
