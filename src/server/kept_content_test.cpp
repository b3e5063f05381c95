// SPDX-License-Identifier: MIT
#include "server/kept_content.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::base {
namespace {

TEST(PageText, HoldsWhatWasAppendedWhateverItsSize) {
  PageText text;
  std::string expected;
  EXPECT_TRUE(text.append({}));
  EXPECT_EQ(text.view(), "");
  for (std::size_t piece = 1; expected.size() < 3'000'000; piece = piece * 3 % 100'003 + 1) {
    const std::string bytes(piece, static_cast<char>('a' + piece % 26));
    ASSERT_TRUE(text.append(bytes));
    expected += bytes;
    ASSERT_EQ(text.size(), expected.size());
  }
  EXPECT_EQ(text.view(), expected);
}

TEST(PageText, IsUsedAgainAfterItWasCleared) {
  PageText text;
  for (const std::size_t size : {10U, 5'000'000U, 100'000U, 0U, 1U}) {
    text.clear();
    EXPECT_EQ(text.size(), 0U);
    ASSERT_TRUE(text.append(std::string(size, 'x')));
    EXPECT_EQ(text.view(), std::string(size, 'x'));
  }
}

TEST(PageText, SaysThatMemoryRanOutAndStaysAsItWas) {
  PageText text;
  ASSERT_TRUE(text.append("kept"));
  EXPECT_FALSE(text.append({"x", std::size_t{1} << 62U}));
  EXPECT_FALSE(text.append({"x", std::size_t{1} << 56U})) << "more than any address space has";
  EXPECT_EQ(text.view(), "kept");
}

}  // namespace
}  // namespace skua::base
