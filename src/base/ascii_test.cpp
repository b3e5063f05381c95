// SPDX-License-Identifier: MIT
#include "base/ascii.hpp"

#include <gtest/gtest.h>

namespace skua::ascii {
namespace {

TEST(Ascii, ATokenIsWhatRfc9110Lists) {
  int count = 0;
  for (unsigned c = 0; c < 256; ++c) count += is_token(static_cast<char>(c)) ? 1 : 0;
  EXPECT_EQ(count, 10 + 52 + 15);
  EXPECT_TRUE(is_token_text("x-Foo_1!"));
  EXPECT_FALSE(is_token_text(""));
  EXPECT_FALSE(is_token_text("a b"));
}

TEST(Ascii, ComparesWithoutTheCaseOfLettersOnly) {
  EXPECT_TRUE(equals_ignoring_case("Keep-Alive", "keep-aLIVE"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
}

TEST(Ascii, TrimsSpacesAndTabs) {
  EXPECT_EQ(trim_ows(" \t a b\t "), "a b");
  EXPECT_EQ(trim_ows(" \t "), "");
}

TEST(Ascii, TakesListElementsOneByOne) {
  std::string_view list = "a , ,b";
  EXPECT_EQ(take_list_element(list), "a");
  EXPECT_EQ(take_list_element(list), "");
  EXPECT_EQ(take_list_element(list), "b");
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace skua::ascii
