// SPDX-License-Identifier: MIT
// What must not compile is in tests/rejected.
#include "skua/pattern.hpp"

#include <gtest/gtest.h>

namespace skua {
namespace {

TEST(Pattern, CountsItsWildcards) {
  static_assert(detail::check_pattern("/") == 0);
  static_assert(detail::check_pattern("/a/b.c/~d/") == 0);
  static_assert(detail::check_pattern("/a/{b}") == 1);
  static_assert(detail::check_pattern("/{a}/x/{b_2}/{c...}") == 3);
  static_assert(detail::check_pattern(
                    "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{n}/{o}/{p}") == 16);
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

}  // namespace
}  // namespace skua
