// SPDX-License-Identifier: MIT
#include "h2/priority.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::h2 {
namespace {

std::string parsed(std::string_view value) {
  const Priority priority = parse_priority(value);
  return std::to_string(priority.urgency) + (priority.is_incremental ? "i" : "");
}

TEST(PriorityField, SaysHowUrgentAResponseIs) {
  EXPECT_EQ(parsed(""), "3");
  EXPECT_EQ(parsed("u=0"), "0");
  EXPECT_EQ(parsed("u=7, i"), "7i");
  EXPECT_EQ(parsed("i,u=5"), "5i");
  EXPECT_EQ(parsed("i=?1"), "3i");
  EXPECT_EQ(parsed("i, i=?0"), "3");
  EXPECT_EQ(parsed("u=1,u=2"), "2");
  EXPECT_EQ(parsed(" u=1;x=2 ,\ti;y"), "1i");
  EXPECT_EQ(parsed("u=01"), "1");
  EXPECT_EQ(parsed("u=000000000000005"), "5");
  EXPECT_EQ(parsed("u=1, u=9"), "3");
}

TEST(PriorityField, IgnoresWhatItDoesNotKnow) {
  EXPECT_EQ(parsed("u=8"), "3");
  EXPECT_EQ(parsed("u=-1"), "3");
  EXPECT_EQ(parsed("u=1.0"), "3");
  EXPECT_EQ(parsed("u=\"1\""), "3");
  EXPECT_EQ(parsed("i=1"), "3");
  EXPECT_EQ(parsed("other=\"a,\\\"i\", u=1"), "1");
  EXPECT_EQ(parsed("list=(1 2 i), u=2"), "2");
  EXPECT_EQ(parsed("urgency=1, ii"), "3");
  EXPECT_EQ(parsed("u=(1), i=(?1)"), "3");
  EXPECT_EQ(parsed("u=@1, i=:aQ==:"), "3");
}

TEST(PriorityField, HasTheDefaultsWhereItIsMalformed) {
  EXPECT_EQ(parsed("u=1,,i"), "3");
  EXPECT_EQ(parsed("u=1,"), "3");
  EXPECT_EQ(parsed("u=1;"), "3");
  EXPECT_EQ(parsed("u=1, U=2"), "3");
  EXPECT_EQ(parsed("u=1 i"), "3");
  EXPECT_EQ(parsed("list=(1 2, i), u=2"), "3");
  EXPECT_EQ(parsed("u= 1"), "3");
  EXPECT_EQ(parsed("u=0000000000000001"), "3");
  EXPECT_EQ(parsed(","), "3");
  EXPECT_EQ(parsed("\"open, u=1"), "3");
  EXPECT_EQ(parsed("(u=1, i"), "3");
}

}  // namespace
}  // namespace skua::h2
