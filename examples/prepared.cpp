// SPDX-License-Identifier: MIT
// Responses that are always the same, made once: who owns their bytes.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

int main(int count, char** arguments) {
  skua::Router router;

  // A literal is sent without a copy; only literals become a StaticText.
  router.get("/static", [] { return skua::StaticText("a page that lives in the program\n"); });

  // Head and body are encoded once. The router keeps the response, and needs no handler for it.
  router.get("/prepared", skua::PreparedResponse(skua::Response::html("<h1>prepared</h1>\n")));

  // A handler may return one of several, by reference; they must outlive the server.
  const skua::PreparedResponse english("hello\n");
  const skua::PreparedResponse german("hallo\n");
  router.get("/hello", [&](const skua::Request& request) -> skua::Response {
    return request.query("lang") == "de" ? german : english;
  });

  // A text that is made once and shared; the response keeps it alive while it is sent.
  const auto large = std::make_shared<const std::string>(1'000'000, 'x');
  router.get("/shared", [large] { return large; });

  // The ordinary case: a string that the response owns, moved, never copied.
  router.get("/owned", [] { return std::string(10'000, 'y'); });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
