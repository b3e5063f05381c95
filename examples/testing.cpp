// SPDX-License-Identifier: MIT
// Handlers tested without a socket: this program checks its own routes, then serves them.
#include <skua.hpp>
#include <skua/testing.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// An ordinary router, made by a function that the server and the tests share.
skua::Router make_app() {
  skua::Router router;
  router.get("/add/{a}/{b}", [](int a, int b) { return std::to_string(a + b); });
  router.post("/length",
              [](const skua::Request& request) { return std::to_string(request.body().size()); });
  router.get("/agent", [](const skua::Request& request) {
    return std::string(request.header("User-Agent").value_or("unknown"));
  });
  return router;
}

bool check(bool holds, const char* what) {
  if (!holds) std::fprintf(stderr, "check failed: %s\n", what);
  return holds;
}

bool is_right(const skua::Router& app) {
  using skua::testing::call;
  // A request with fields of its own; it lives as long as `fake`.
  skua::testing::FakeRequest fake("GET /agent");
  fake.header("User-Agent", "test");
  return check(call(app, "GET /add/2/3").body() == "5", "2 + 3 = 5") &&
         check(call(app, "POST /length", "four").body() == "4", "four has 4 letters") &&
         check(call(app, "GET /add/2/x").status() == skua::Status::NotFound, "x is not a number") &&
         check(app.handle(fake.request()).body() == "test", "fields are seen");
}

}  // namespace

int main(int count, char** arguments) {
  const skua::Router app = make_app();
  if (!is_right(app)) return 1;

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(app, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
