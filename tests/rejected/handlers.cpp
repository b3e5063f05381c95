// SPDX-License-Identifier: MIT
// Handlers and middleware of a newcomer that must not compile; see routes.cpp for the form.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "skua/middleware.hpp"
#include "skua/router.hpp"

struct App {
  skua::Response page(skua::Request&) const { return "x"; }
};

void valid([[maybe_unused]] skua::Router& router);
void wrong_handlers([[maybe_unused]] skua::Router& router);
void wrong_calls([[maybe_unused]] skua::Router& router);

void valid([[maybe_unused]] skua::Router& router) {
#if CASE == 0
  // case 0: compiles
  const App app;
  router.get("/a", [&app](skua::Request& request) { return app.page(request); });
  router.get("/b", skua::PreparedResponse("x"));
  router.get("/:b", [] { return "a path with a colon"; });
  auto handler = [number = std::make_unique<int>(1)] { return std::to_string(*number); };
  router.get("/c", std::move(handler));
  router.route(skua::Method::Get, "/d", [] { return skua::Status(299); });
  router.get("/e/{a}", [](bool yes) { return yes ? "yes" : "no"; });
  router.get("/f", [](skua::Request& request) -> skua::Task<std::string> {
    std::string text = co_await request.text();
    co_return text;
  });
  router.use([](const auto&, auto& response) { response.status(skua::Status::Accepted); });
  skua::Router other;
  router.mount("/x", std::move(other));
#endif
}

void wrong_handlers([[maybe_unused]] skua::Router& router) {
#if CASE == 1
  // case 1: a handler takes its request first, and by reference
  router.get("/", [](skua::Request*) { return "x"; });
#elif CASE == 2
  // case 2: a handler takes its request first, and by reference
  router.get("/{id}", [](int, skua::Request&) { return "x"; });
#elif CASE == 3
  // case 3: a handler returns its response, it is not given one to fill
  router.get("/", [](skua::Request&, skua::Response& response) { response.body("x"); });
#elif CASE == 4
  // case 4: a handler returns its response, it is not given one to fill
  router.get("/{id}", [](const skua::Request&, skua::Response& response) { response.body("x"); });
#elif CASE == 5
  // case 5: registered by router.websocket..
  router.get("/", [](skua::WebSocket&) -> skua::Task<> { co_return; });
#elif CASE == 6
  // case 6: a member function needs its object
  router.get("/", &App::page);
#elif CASE == 7
  // case 7: a route is a pattern, then its handler
  router.get("/", "text");
#elif CASE == 8
  // case 8: a route is a pattern, then its handler
  router.get("/", skua::Response("text"));
#elif CASE == 9
  // case 9: a handler that cannot be copied is moved to the router
  const auto handler = [number = std::make_unique<int>(1)] { return std::to_string(*number); };
  router.get("/", handler);
#elif CASE == 10
  // case 10: a handler returns something that converts to a Response
  router.get("/", []() -> skua::Task<int> { co_return 1; });
#elif CASE == 11
  // case 11: its other parameters are integers, double, bool,
  router.get("/", [](const char*) { return "x"; });
#elif CASE == 23
  // case 23: Content is not made into a struct: parse request.body
  struct Order {
    int id;
  };
  router.post("/", [](Order order) { return std::to_string(order.id); });
#elif CASE == 12
  // case 12: a_wildcard_is_written_in_braces_and_typed_by_the_parameter_of_the_handler
  router.get("/users/:id", [](int) { return "x"; });
#elif CASE == 13
  // case 13: a_wildcard_is_written_in_braces_and_typed_by_the_parameter_of_the_handler
  router.get("/users/<int>", [](int) { return "x"; });
#elif CASE == 14
  // case 14: reading content changes the request
  router.get("/", [](const skua::Request& request) -> skua::Task<std::string> {
    std::string text = co_await request.text();
    co_return text;
  });
#endif
}

void wrong_calls([[maybe_unused]] skua::Router& router) {
#if CASE == 15
  // case 15: a route is a pattern, then its handler
  router.get([] { return "x"; }, "/");
#elif CASE == 16
  // case 16: a method is not text
  router.route("GET", "/", [] { return "x"; });
#elif CASE == 17
  // case 17: middleware is for a whole router
  router.use("/x", [](skua::Request&) -> std::optional<skua::Response> { return std::nullopt; });
#elif CASE == 18
  // case 18: a router is moved where it is mounted
  skua::Router other;
  router.mount("/x", other);
#elif CASE == 19
  // case 19: a router is moved where it is mounted
  skua::Router other;
  router.mount("/x", &other);
#elif CASE == 20
  // case 20: the path comes first, then what is mounted there
  skua::Router other;
  router.mount(std::move(other), "/x");
#elif CASE == 21
  // case 21: middleware is a guard
  router.use([](skua::Request&, skua::Response&, skua::Next) {});
#elif CASE == 22
  // case 22: write co_await before the call
  router.use(
      [](skua::Request& request, skua::Next next) -> skua::Response { return next(request); });
#endif
}
