// SPDX-License-Identifier: MIT
#include "base/hex.hpp"

#include <gtest/gtest.h>

namespace skua::hex {
namespace {

TEST(Hex, WritesTwoDigitsAByte) {
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode(std::string_view("\0\x0f\xa5\xff", 4)), "000fa5ff");
}

TEST(Hex, KnowsItsOwnText) {
  EXPECT_TRUE(is_lower_text("00ff", 4));
  EXPECT_FALSE(is_lower_text("00FF", 4));
  EXPECT_FALSE(is_lower_text("00ff", 6));
  EXPECT_FALSE(is_lower_text("00fg", 4));
}

}  // namespace
}  // namespace skua::hex
