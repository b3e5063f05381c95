// SPDX-License-Identifier: MIT
#include "skua/redis_reply.hpp"

#include <cmath>
#include <string_view>

#include <gtest/gtest.h>

#include "resp/number.hpp"
#include "resp/reply_parser.hpp"

namespace skua::redis {
namespace {

Reply parsed(std::string_view bytes) {
  resp::ReplyParser parser;
  EXPECT_EQ(parser.next(bytes), resp::ReplyParser::Event::Reply);
  return parser.take();
}

TEST(Reply, IsNullAtFirst) {
  const Reply reply;
  EXPECT_TRUE(reply.is_null());
  EXPECT_EQ(reply.string(), std::nullopt);
  EXPECT_EQ(reply.integer(), std::nullopt);
  EXPECT_TRUE(reply.elements().empty());
}

TEST(Reply, NumbersAreAlsoReadFromTexts) {
  EXPECT_EQ(parsed(":42\r\n").integer(), 42);
  EXPECT_EQ(parsed("$2\r\n42\r\n").integer(), 42);
  EXPECT_EQ(parsed("$3\r\n4.5\r\n").number(), 4.5);
  EXPECT_EQ(parsed(":4\r\n").number(), 4.0);
  EXPECT_EQ(parsed("$3\r\n42x\r\n").integer(), std::nullopt);
  EXPECT_EQ(parsed("$0\r\n\r\n").number(), std::nullopt);
  EXPECT_TRUE(std::isnan(*parsed(",nan\r\n").number()));
  EXPECT_EQ(parsed(",1.5\r\n").integer(), std::nullopt);
}

TEST(Reply, BooleansAreAlsoReadFromIntegers) {
  EXPECT_EQ(parsed("#t\r\n").boolean(), true);
  EXPECT_EQ(parsed(":0\r\n").boolean(), false);
  EXPECT_EQ(parsed(":2\r\n").boolean(), std::nullopt);
  EXPECT_EQ(parsed("$1\r\n1\r\n").boolean(), std::nullopt);
}

TEST(Reply, OnlyStringsAreStrings) {
  EXPECT_EQ(parsed("$1\r\na\r\n").string(), "a");
  EXPECT_EQ(parsed("+OK\r\n").string(), "OK");
  EXPECT_EQ(parsed("=5\r\ntxt:a\r\n").string(), "a");
  EXPECT_EQ(parsed("-ERR a\r\n").string(), std::nullopt);
  EXPECT_EQ(parsed("_\r\n").string(), std::nullopt);
}

TEST(Reply, AnErrorHasACode) {
  EXPECT_EQ(parsed("-NOSCRIPT No such script\r\n").error_code(), "NOSCRIPT");
  EXPECT_EQ(parsed("-ERR\r\n").error_code(), "ERR");
  EXPECT_EQ(parsed("+ERR no error\r\n").error_code(), "");
}

TEST(Reply, AVerbatimStringHasAFormat) {
  EXPECT_EQ(parsed("=5\r\nmkd:a\r\n").format(), "mkd");
  EXPECT_EQ(parsed("$5\r\nmkd:a\r\n").format(), "");
}

TEST(Reply, ValuesAreFoundByTheirKeys) {
  const Reply map = parsed("%2\r\n+a\r\n:1\r\n$1\r\nb\r\n:2\r\n");
  ASSERT_NE(map.find("b"), nullptr);
  EXPECT_EQ(map.find("b")->integer(), 2);
  EXPECT_EQ(map.find("c"), nullptr);
  // Servers of old answer in arrays.
  EXPECT_EQ(parsed("*4\r\n+a\r\n:1\r\n+b\r\n:2\r\n").find("b")->integer(), 2);
  EXPECT_EQ(parsed("*3\r\n+a\r\n+b\r\n+c\r\n").find("c"), nullptr);
  EXPECT_EQ(parsed("~2\r\n+a\r\n+b\r\n").find("a"), nullptr);
}

TEST(Reply, AnElementPastTheEndIsNull) {
  const Reply array = parsed("*1\r\n:1\r\n");
  EXPECT_EQ(array[0].integer(), 1);
  EXPECT_TRUE(array[1].is_null());
  EXPECT_TRUE(array[1][7].is_null());
}

TEST(Reply, CopiesShareNothingThatChanges) {
  const Reply reply = parsed("|1\r\n+ttl\r\n:3\r\n*1\r\n+a\r\n");
  const Reply copy = reply;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.attributes()[1].integer(), 3);
  EXPECT_EQ(copy.to_string(), reply.to_string());
}

TEST(RespNumber, DoublesAreWrittenAsTheyAreRead) {
  for (const double number : {0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, 123456789.125}) {
    EXPECT_EQ(resp::parse_double(resp::double_text(number)), number);
  }
  EXPECT_EQ(resp::double_text(-INFINITY), "-inf");
  EXPECT_EQ(resp::parse_double("1e"), std::nullopt);
  EXPECT_EQ(resp::parse_double("."), std::nullopt);
  EXPECT_EQ(resp::parse_double("infinity"), std::nullopt);
}

TEST(RespNumber, IntegersHaveBounds) {
  EXPECT_EQ(resp::parse_integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(resp::parse_integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(resp::parse_integer("+-1"), std::nullopt);
  EXPECT_EQ(resp::parse_integer("-"), std::nullopt);
}

}  // namespace
}  // namespace skua::redis
