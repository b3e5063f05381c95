// SPDX-License-Identifier: MIT
#include "topics/message_id.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace skua::topics {
namespace {

TEST(MessageId, IsTwoNumbers) {
  EXPECT_EQ(parse_message_id("1764193732123-7"), (MessageId{1'764'193'732'123, 7}));
  EXPECT_EQ(parse_message_id("0"), MessageId());
  EXPECT_EQ(parse_message_id("5"), (MessageId{5, 0}));
  EXPECT_EQ(parse_message_id("18446744073709551615-18446744073709551615"),
            (MessageId{std::numeric_limits<std::uint64_t>::max(),
                       std::numeric_limits<std::uint64_t>::max()}));
  EXPECT_EQ((MessageId{5, 7}.to_string()), "5-7");
}

TEST(MessageId, IsNothingElse) {
  for (const std::string text :
       {"", "-", "5-", "-5", "5-7-9", "5 -7", " 5", "5-7 ", "+5", "5--7", "5-+7", "0x5", "a", "5-a",
        "18446744073709551616", "1-18446744073709551616", "5-7\n"}) {
    EXPECT_EQ(parse_message_id(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_message_id(std::string_view("5\0", 2)), std::nullopt);
}

TEST(MessageId, HasAnOrder) {
  EXPECT_LT((MessageId{4, 9}), (MessageId{5, 0}));
  EXPECT_LT((MessageId{5, 0}), (MessageId{5, 1}));
  EXPECT_EQ((MessageId{5, 1}).next(), (MessageId{5, 2}));
  EXPECT_EQ((MessageId{5, std::numeric_limits<std::uint64_t>::max()}).next(), (MessageId{6, 0}));
}

}  // namespace
}  // namespace skua::topics
