// SPDX-License-Identifier: MIT
// Ready-made middleware: each is one call of `use`.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

std::string long_page() {
  std::string page = "<!doctype html><title>gulls</title><ol>\n";
  for (int i = 1; i <= 500; ++i) page.append("<li>gull ").append(std::to_string(i)).append("\n");
  return page.append("</ol>\n");
}

}  // namespace

int main(int count, char** arguments) {
  using namespace skua::literals;
  skua::Router router;

  // Which pages may read responses. First, because preflights carry no credentials.
  router.use(skua::cors({.origins = {"https://gulls.example"}, .headers = {"Content-Type"}}));
  // An identifier for each request, for logs; the client gets it too.
  router.use(skua::request_id());
  router.use(skua::security_headers({.content_security_policy = "default-src 'self'"}));

  router.get("/page", [] { return skua::Response::html(long_page()); });
  // One resource in two formats: the client says which it prefers.
  router.get("/gull", [](const skua::Request& request) {
    const auto type = skua::preferred_type(request, {"text/html", "application/json"});
    skua::Response response = type == "application/json"
                                  ? skua::Response::json(R"({"name":"Larus"})")
                                  : skua::Response::html("<b>Larus</b>");
    return std::move(response).vary("Accept");
  });

  // Only the mounted router is limited: three attempts, then one every 20 seconds.
  skua::Router login;
  login.use(skua::rate_limit({.requests = 3, .per = 1min, .policy = "login"}));
  login.post("/", [] { return skua::Response(skua::Status::Unauthorized, "no\n"); });
  router.mount("/login", std::move(login));

  // Last, after all others have amended the response.
  router.use(skua::compression());

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str()), std::fflush(stdout);
  signals.wait_and_drain(server);
}
