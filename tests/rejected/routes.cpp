// SPDX-License-Identifier: MIT
// Routes that must not compile: -DCASE=n selects a case, and its line `case n: words` is the
// expected compiler message. See CMakeLists.txt.
#include <optional>
#include <string>
#include <vector>

#include "skua/router.hpp"

struct Own {
  int value;
};
template <>
struct skua::PathParameter<Own> {
  static std::optional<Own> parse(std::string_view text) {
    return Own{static_cast<int>(text.size())};
  }
};

void valid_routes([[maybe_unused]] skua::Router& router);
void patterns([[maybe_unused]] skua::Router& router);
void handlers([[maybe_unused]] skua::Router& router);
void the_rest([[maybe_unused]] skua::Router& router);

void valid_routes([[maybe_unused]] skua::Router& router) {
#if CASE == 0
  // case 0: compiles
  router.get("/a/{b}/{c}", [](skua::Request&, int, const std::string&) { return "x"; });
  router.get("/a/{b}",
             [](const skua::Request& request) -> skua::Response { return request.path(); });
  router.get("/own/{b}", [](Own own) { return std::to_string(own.value); });
  router.use([](skua::Request&) -> std::optional<skua::Response> { return std::nullopt; });
  router.use([](const skua::Request&, skua::Response&) {});
  router.mount("/x", skua::Router());
  const std::string text = "/y";
  router.get(skua::RuntimePattern(text + "/{id}"), [](int) { return "x"; });
  router.mount(skua::RuntimePattern(text), skua::Router());
#endif
}

void patterns([[maybe_unused]] skua::Router& router) {
#if CASE == 1
  // case 1: an_opening_brace_has_no_closing_brace_in_this_pattern
  router.get("/users/{id", [](int) { return "x"; });
#elif CASE == 2
  // case 2: the_handler_takes_another_number_of_parameters_than_the_pattern_has_wildcards
  router.get("/users/{id}", [](int, int) { return "x"; });
#elif CASE == 3
  // case 3: a_route_pattern_starts_with_a_slash
  router.get("users", [] { return "x"; });
#elif CASE == 4
  // case 4: the_handler_takes_another_number_of_parameters_than_the_pattern_has_wildcards
  router.get("/a/{b}/{c}", [](skua::Request&, int) { return "x"; });
#elif CASE == 5
  // case 5: a_closing_brace_has_no_opening_brace_in_this_pattern
  router.get("/users/id}", [] { return "x"; });
#elif CASE == 6
  // case 6: a_wildcard_fills_a_whole_path_segment
  router.get("/users/x{id}", [] { return "x"; });
#elif CASE == 7
  // case 7: a_wildcard_has_a_name_of_letters_digits_and_underscores
  router.get("/users/{}", [] { return "x"; });
#elif CASE == 8
  // case 8: two_wildcards_of_this_pattern_have_the_same_name
  router.get("/{a}/{a}", [] { return "x"; });
#elif CASE == 9
  // case 9: a_rest_wildcard_stands_at_the_end_of_the_pattern
  router.get("/{a...}/b", [] { return "x"; });
#elif CASE == 10
  // case 10: a_route_pattern_has_at_most_16_wildcards
  router.get("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{n}/{o}/{p}/{q}",
             [] { return "x"; });
#elif CASE == 11
  // case 11: a_pattern_is_a_decoded_path_without_query_percent_backslash_or_control_characters
  router.get("/a%20b", [] { return "x"; });
#elif CASE == 12
  // case 12: a_pattern_has_no_empty_segment_and_no_dot_segment
  router.get("/a//b", [] { return "x"; });
#elif CASE == 13
  // case 13: a_pattern_has_no_empty_segment_and_no_dot_segment
  router.get("/a/../b", [] { return "x"; });
#endif
}

void handlers([[maybe_unused]] skua::Router& router) {
#if CASE == 14
  // case 14: its other parameters are integers, double, bool,
  router.get("/{a}", [](std::vector<int>) { return "x"; });
#elif CASE == 15
  // case 15: its other parameters are integers, double, bool,
  router.get("/{a}", [](std::string&) { return "x"; });
#elif CASE == 16
  // case 16: a handler returns something that converts to a Response
  router.get("/", [] { return std::vector<int>(); });
#elif CASE == 17
  // case 17: a handler returns something that converts to a Response
  router.get("/", [] {});
#elif CASE == 18
  // case 18: a handler returns a PreparedResponse by reference
  router.get("/", [] { return skua::PreparedResponse("x"); });
#elif CASE == 19
  // case 19: it cannot be mutable
  router.get("/", [n = 0]() mutable { return std::to_string(++n); });
#elif CASE == 20
  // case 20: a handler is a function or an object with one operator..
  router.get("/", [](auto& request) { return std::string(request.path()); });
#elif CASE == 30
  // case 30: a coroutine takes its path parameters by value
  router.get("/{id}", [](const std::string& id) -> skua::Task<std::string> { co_return id; });
#elif CASE == 31
  // case 31: takes a Request& and a Next by value
  router.use([](skua::Request& request, const skua::Next& next) -> skua::Task<skua::Response> {
    skua::Response response = co_await next(request);
    co_return response;
  });
#elif CASE == 32
  // case 32: a handler takes its request by reference
  router.get("/", [](skua::Request) { return "x"; });
#elif CASE == 27
  // case 27: a handler returns something that converts to a Response
  router.get("/", [] { return 404; });
#endif
}

void the_rest([[maybe_unused]] skua::Router& router) {
#if CASE == 21
  // case 21: middleware is a guard
  router.use([](skua::Request&) -> bool { return true; });
#elif CASE == 22
  // case 22: middleware is a guard
  router.use([](const skua::Request&, skua::Response response) { return response; });
#elif CASE == 29
  // case 29: as const members guard and finish
  struct Half {
    std::optional<skua::Response> guard(skua::Request&) { return std::nullopt; }
    void finish(const skua::Request&, skua::Response&) const {}
  };
  router.use(Half());
#elif CASE == 23
  // case 23: a_mount_prefix_has_no_wildcard_and_no_slash_at_its_end
  router.mount("/{tenant}", skua::Router());
#elif CASE == 24
  // case 24: a_mount_prefix_has_no_wildcard_and_no_slash_at_its_end
  router.mount("/api/", skua::Router());
#elif CASE == 25
  // case 25: nullptr_t
  skua::Response response = nullptr;
#elif CASE == 26
  // case 26: not (a constant expression|usable in a constant expression)
  static char text[] = "not a constant";
  router.get("/", [] { return skua::StaticText(text); });
#elif CASE == 28
  // case 28: a pattern that is not a string literal needs skua::RuntimePattern
  std::string pattern = "/" + std::to_string(1);
  router.get(pattern.c_str(), [] { return "x"; });
#elif CASE == 33
  // case 33: a pattern that is not a string literal needs skua::RuntimePattern
  std::string pattern = "/" + std::to_string(1);
  router.get(pattern, [] { return "x"; });
#elif CASE == 34
  // case 34: a prefix that is not a string literal needs skua::RuntimePattern
  std::string prefix = "/api";
  router.mount(prefix, skua::Router());
#endif
}
