// SPDX-License-Identifier: MIT
// Routes: typed parameters, a query, cookies, a mounted router with a guard, errors.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

int main(int count, char** arguments) {
  // Handlers run on several threads at once; this map is only read.
  const std::map<int, std::string> users{{7, "Ada"}, {8, "Grace"}};
  skua::Router router;

  // {id} becomes an int because the handler asks for one; /users/x is a 404.
  router.get("/users/{id}", [&users](int id) -> skua::Response {
    if (const auto user = users.find(id); user != users.end()) return user->second;
    return skua::Status::NotFound;
  });
  // {path...} takes the rest of the path, including slashes.
  router.get("/echo/{path...}", [](const std::string& path) { return path; });
  // /search?q=sea+birds: query parameters are decoded and optional.
  router.get("/search", [](const skua::Request& request) {
    return "you searched for " + std::string(request.query("q").value_or("nothing"));
  });
  // A handler is called with the whole body; one larger than Limits::body_bytes is a 413.
  router.post("/shout", [](const skua::Request& request) -> skua::Response {
    if (request.body().empty()) throw skua::HttpError(skua::Status::BadRequest, "say something");
    return skua::Response(skua::Status::Created, std::string(request.body()) + "!");
  });
  // Over plain HTTP, browsers do not keep `Secure` cookies, which are the default.
  router.post("/name/{name}", [](const std::string& name) {
    return skua::Response::redirect("/whoami").cookie("name", name, {.secure = false});
  });
  router.get("/whoami", [](const skua::Request& request) {
    return std::string(request.cookie("name").value_or("a stranger"));
  });

  // A guard answers early or lets the request through; it guards 404s below /admin, too.
  skua::Router admin;
  admin.get("/", [] { return skua::Response::json(R"({"secret":42})"); });
  admin.use([](skua::Request& request) -> std::optional<skua::Response> {
    if (request.header("X-Key") == "open sesame") return std::nullopt;
    return skua::Status::Forbidden;
  });
  router.mount("/admin", std::move(admin));
  // A finisher sees every response, errors included.
  router.use([](const skua::Request&, skua::Response& response) {
    response.header("X-Content-Type-Options", "nosniff");
  });

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port)});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str()), std::fflush(stdout);
  signals.wait_and_drain(server);
}
