// SPDX-License-Identifier: MIT
// Patterns that must not compile are in tests/rejected.

#include <gtest/gtest.h>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "skua/path_parameter.hpp"
#include "skua/pattern.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

TEST(Pattern, CountsItsWildcards) {
  const auto wildcards = [](std::string_view pattern) {
    const detail::PatternCheck check = detail::check_pattern(pattern);
    EXPECT_EQ(check.flaw, detail::PatternError::None) << pattern;
    return check.wildcards;
  };
  EXPECT_EQ(wildcards("/"), 0U);
  EXPECT_EQ(wildcards("/a/b.c/~d/"), 0U);
  EXPECT_EQ(wildcards("/a/{b}"), 1U);
  EXPECT_EQ(wildcards("/{a}/x/{b_2}/{c...}"), 3U);
  EXPECT_EQ(wildcards("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{n}/{o}/{p}"), 16U);
}

TEST(Pattern, NamesItsWildcards) {
  static_assert(detail::wildcard_name("{id}") == "id");
  static_assert(detail::wildcard_name("{path...}") == "path");
}

TEST(Pattern, IsMadeOfALiteral) {
  static constexpr Pattern<1> pattern("/users/{id}");
  static_assert(pattern.text() == "/users/{id}");
  static_assert(Prefix("/admin").text() == "/admin");
}

// Returns the text that `register_it` throws, with the line of the call as "LINE".
template <class F>
std::string refusal(unsigned line, F register_it) {
  try {
    register_it();
  } catch (const std::invalid_argument& error) {
    std::string text = error.what();
    const std::string place = "pattern_test.cpp:" + std::to_string(line) + ": ";
    const std::size_t at = text.find(place);
    return at == text.npos ? text : text.substr(at + place.size());
  }
  return "nothing was thrown";
}

TEST(RuntimePattern, SaysWhichColumnIsWrong) {
  struct {
    const char* pattern;
    const char* expected;
  } const cases[] = {
      {"", "column 1: must start with a slash"},
      {"users", "column 1: must start with a slash"},
      {"/users/{id", "column 8: opening brace without a closing brace"},
      {"/users/id}", "column 10: closing brace without an opening brace"},
      {"/a}{b", "column 3: closing brace without an opening brace"},
      {"/users/x{id}", "column 9: a wildcard must fill a whole path segment"},
      {"/users/{id}x", "column 12: a wildcard must fill a whole path segment"},
      {"/users/{}", "column 9: a wildcard's name must consist of"},
      {"/users/{a-b}", "column 10: a wildcard's name must consist of"},
      {"/{a}/{a}", "column 7: another wildcard has the same name"},
      {"/{a...}/b", "column 2: {name...} must be the last segment"},
      {"/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{n}/{o}/{p}/{q}",
       "column 66: more than 16 wildcards"},
      {"/a%20b", "column 3: a pattern is a decoded path"},
      {"/a?b", "column 3: a pattern is a decoded path"},
      {"/a//b", "column 4: empty segment or dot segment"},
      {"/a/../b", "column 4: empty segment or dot segment"},
  };
  for (const auto& [pattern, expected] : cases) {
    Router router;
    const unsigned line = __LINE__ + 1;
    const auto add = [&] { router.get(RuntimePattern(pattern), [] { return "x"; }); };
    const std::string text = refusal(line, add);
    EXPECT_TRUE(text.starts_with("the pattern \"" + std::string(pattern) + "\", " + expected))
        << text;
  }
}

TEST(RuntimePattern, HasAsManyWildcardsAsTheHandlerTakes) {
  Router router;
  const unsigned line = __LINE__ + 1;
  const auto add = [&] { router.get(RuntimePattern("/{a}/{b}"), [](int) { return "x"; }); };
  const std::string text = refusal(line, add);
  EXPECT_EQ(text,
            "the pattern \"/{a}/{b}\" has 2 wildcard(s), but the handler takes 1 parameter(s)");
}

TEST(RuntimePattern, IsRoutedLikeALiteral) {
  const std::string base = "/users";
  Router router;
  router.get(RuntimePattern(base + "/{id}"), [](int id) { return std::to_string(id); });
  Router inner;
  inner.get("/", [] { return "inner"; });
  router.mount(RuntimePattern(base + "/all"), std::move(inner));
  EXPECT_EQ(testing::call(router, "GET /users/7").body(), "7");
  EXPECT_EQ(testing::call(router, "GET /users/x").status(), Status::NotFound);
  EXPECT_EQ(testing::call(router, "GET /users/all/").body(), "inner");
}

TEST(RuntimePattern, IsNoPrefixWithAWildcardOrASlashAtItsEnd) {
  Router router;
  const auto mounts = [&](const char* prefix) { router.mount(RuntimePattern(prefix), Router()); };
  const auto serves = [&](const char* prefix) { router.files(RuntimePattern(prefix), "/"); };
  const char* const why = ": a prefix must not have a wildcard or end with a slash";
  EXPECT_TRUE(refusal(0, [&] { mounts("/{tenant}"); }).ends_with("column 2" + std::string(why)));
  EXPECT_TRUE(refusal(0, [&] { mounts("/api/"); }).ends_with("column 5" + std::string(why)));
  EXPECT_TRUE(refusal(0, [&] { serves("/"); }).ends_with("column 1" + std::string(why)));
  EXPECT_TRUE(refusal(0, [&] { serves("assets"); }).ends_with(": must start with a slash"));
}

TEST(RuntimePattern, OfARouteThatIsThereAlreadyIsRefused) {
  Router router;
  router.get("/a", [] { return "x"; });
  EXPECT_THROW(router.get(RuntimePattern("/a"), [] { return "y"; }), std::invalid_argument);
}

}  // namespace
namespace {

template <class T>
std::optional<T> parse(std::string_view text) {
  return PathParameter<T>::parse(text);
}

TEST(PathParameter, IsTheWholeTextAndInRange) {
  EXPECT_EQ(parse<int>("-7"), -7);
  EXPECT_EQ(parse<std::uint8_t>("255"), 255);
  EXPECT_EQ(parse<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse<std::int8_t>("-128"), -128);
  EXPECT_EQ(parse<std::int8_t>("-129"), std::nullopt);
  EXPECT_EQ(parse<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse<std::uint64_t>("18446744073709551616"), std::nullopt);
  for (const char* const text : {"", " 7", "7 ", "+7", "7x", "0x7", "7.0", "--7", "-"}) {
    EXPECT_EQ(parse<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse<unsigned>("-1"), std::nullopt);
}

TEST(PathParameter, IsABoolByName) {
  EXPECT_EQ(parse<bool>("true"), true);
  EXPECT_EQ(parse<bool>("false"), false);
  EXPECT_EQ(parse<bool>("1"), std::nullopt);
}

TEST(PathParameter, IsAFiniteNumber) {
  EXPECT_EQ(parse<double>("-1.5e3"), -1500.0);
  EXPECT_EQ(parse<float>("0.5"), 0.5F);
  for (const char* const text : {"inf", "nan", "-infinity", "1e999", "1.5.", ""}) {
    EXPECT_EQ(parse<double>(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace skua
