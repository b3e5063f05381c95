// SPDX-License-Identifier: MIT
// Answers that are always the same, made once: who owns the bytes of a response.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

int main(int count, char** arguments) {
  skua::Router router;

  // A literal that is sent where it lies; only literals become a StaticText.
  router.get("/static", [] { return skua::StaticText("a page that lives in the program\n"); });

  // Head and body serialised once. A router that is given one keeps it and needs no handler.
  router.get("/prepared", skua::PreparedResponse(skua::Response::html("<h1>prepared</h1>\n")));

  // A handler may choose among prepared ones: by reference, to those that outlive the server.
  const skua::PreparedResponse english("hello\n");
  const skua::PreparedResponse german("hallo\n");
  router.get("/hello", [&](const skua::Request& request) -> skua::Response {
    return request.query("lang") == "de" ? german : english;
  });

  // A text that is made once and shared: the response keeps it alive while it is sent.
  const auto large = std::make_shared<const std::string>(1'000'000, 'x');
  router.get("/shared", [large] { return large; });

  // And the ordinary case: a string of the response's own, moved, never copied.
  router.get("/owned", [] { return std::string(10'000, 'y'); });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
