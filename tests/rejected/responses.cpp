// SPDX-License-Identifier: MIT
// Responses, sessions and forms that must not compile; see routes.cpp for the form.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "skua/error.hpp"
#include "skua/form.hpp"
#include "skua/http_error.hpp"
#include "skua/response.hpp"
#include "skua/session.hpp"

namespace {
struct Json {
  [[nodiscard]] std::string dump() const { return "{}"; }
};
}  // namespace

skua::Response result_of([[maybe_unused]] const skua::Request& request);
void amend([[maybe_unused]] skua::Request& request, [[maybe_unused]] skua::Response& response);

skua::Response result_of([[maybe_unused]] const skua::Request& request) {
#if CASE == 0
  // case 0: compiles
  if (request.path() == "/a") return skua::Response(skua::Status::NotFound, "no", "text/plain");
  if (request.path() == "/b") return {skua::Status::Created, std::string("made")};
  if (request.path() == "/c") return skua::Error(skua::Errc::NotFound);
  if (request.path() == "/d") return skua::Result<std::string>("text");
  if (request.path() == "/e") return skua::Response::json(Json().dump());
  if (request.path() == "/f") return skua::Response("x").header("A", "b").cookie("c", "d");
  if (request.path() == "/g") return skua::Response::redirect("/", skua::Status::Found);
  return skua::Response::stream("text/plain", [](skua::BodyWriter& out) -> skua::Task<> {
    co_await out.write(std::to_string(1));
  });
#elif CASE == 1
  // case 1: a response is not made of a number
  return 404;
#elif CASE == 2
  // case 2: a response is not made of a number
  return skua::Response(42);
#elif CASE == 3
  // case 3: a response is made of a status, its content and its type, in this order
  return {404, "x"};
#elif CASE == 4
  // case 4: a response is made of a status, its content and its type, in this order
  return skua::Response("x", skua::Status::NotFound);
#elif CASE == 5
  // case 5: a response is made of a status, its content and its type, in this order
  return skua::Response("<b>", "text/html");
#elif CASE == 6
  // case 6: a response is made of an Error
  return skua::Errc::NotFound;
#elif CASE == 7
  // case 7: JSON is passed as text
  return skua::Response::json(std::map<std::string, int>());
#elif CASE == 8
  // case 8: JSON is passed as text
  return skua::Response::json(Json());
#elif CASE == 9
  // case 9: content is text: write std::to_string.number.
  return skua::Response::html(42);
#elif CASE == 10
  // case 10: a value is text: write std::to_string.number.
  return skua::Response("x").header("A", 42);
#elif CASE == 11
  // case 11: a status is not a number
  return skua::Response::redirect("/", 301);
#elif CASE == 12
  // case 12: a stream is produced by a coroutine
  return skua::Response::stream("text/plain", [](skua::BodyWriter& out) { out.trailer("A", "b"); });
#elif CASE == 13
  // case 13: a stream is produced by a coroutine
  return skua::Response::stream("text/plain", "text");
#elif CASE == 14
  // case 14: an HttpError has a status, then a text
  throw skua::HttpError(404, "x");
#endif
  return {};
}

void amend([[maybe_unused]] skua::Request& request, [[maybe_unused]] skua::Response& response) {
#if CASE == 0
  auto& session = skua::session(request);
  session.set("name", std::string("value"));
  response.header("A", request.header("B").value_or(""));
  response.add_header("A", std::string("b")).vary("A");
  response.status(skua::Status(404)).body("text");
  if (response.status() == skua::Status::NotFound) response.remove_header("A");
  if (skua::code(response.status()) == 404) response.remove_header("A");
  const skua::Form form = skua::Form().add("a", "b");
#elif CASE == 15
  // case 15: a value is text: write std::to_string.number.
  response.header("A", 0);
#elif CASE == 16
  // case 16: a value is text: write std::to_string.number., or optional.value_or
  response.header("A", request.header("B"));
#elif CASE == 17
  // case 17: a value is text: write std::to_string.number.
  response.add_header("A", 42);
#elif CASE == 18
  // case 18: a value is text: write std::to_string.number.
  response.cookie("a", 1);
#elif CASE == 19
  // case 19: a status is not a number
  response.status(404);
#elif CASE == 20
  // case 20: a status is not a number
  if (response.status() == 404) response.body("x");
#elif CASE == 21
  // case 21: content is text: write std::to_string.number.
  response.body(42);
#elif CASE == 22
  // case 22: a value is text: write std::to_string.number.
  skua::session(request).set("a", 1);
#elif CASE == 23
  // case 23: deleted (function|constructor).*Session
  auto session = skua::session(request);
#elif CASE == 24
  // case 24: a value is text: write std::to_string.number.
  const skua::Form form = skua::Form().add("a", 1);
#endif
}
