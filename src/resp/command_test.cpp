// SPDX-License-Identifier: MIT
#include "skua/redis_command.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "resp/command_rules.hpp"

namespace skua::redis {
namespace {

std::string wire(const Command& command) {
  std::string out;
  command.write(out);
  return out;
}

TEST(Command, IsAnArrayOfBulkStrings) {
  EXPECT_EQ(wire(Command("SET", "key", "va\r\nlue")),
            "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$7\r\nva\r\nlue\r\n");
  EXPECT_EQ(wire(Command("GET", "")), "*2\r\n$3\r\nGET\r\n$0\r\n\r\n");
  EXPECT_EQ(wire(Command("ECHO", std::string("a\0b", 3))),
            std::string("*2\r\n$4\r\nECHO\r\n$3\r\na\0b\r\n", 23));
}

TEST(Command, TakesNumbers) {
  const Command command("X", 1, -2L, 3.5, 0.1F, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(command.arguments()[1], "1");
  EXPECT_EQ(command.arguments()[2], "-2");
  EXPECT_EQ(command.arguments()[3], "3.5");
  EXPECT_EQ(command.arguments()[5], "18446744073709551615");
  EXPECT_EQ(command.arguments()[6], "");
}

TEST(Command, ArgumentsAreAdded) {
  Keys keys("a", "b");
  Command command("DEL");
  for (std::size_t i = 0; i < keys.size(); ++i) command.add(keys[i]);
  EXPECT_EQ(wire(command), wire(Command("DEL", "a", "b")));
  Arguments all;
  all.add(keys).add(5);
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2], "5");
}

TEST(Script, IsNamedByItsSha1) {
  EXPECT_EQ(Script("").sha(), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

}  // namespace
}  // namespace skua::redis

namespace skua::resp {
namespace {

using redis::Command;

TEST(Slots, AreThoseOfTheSpecification) {
  EXPECT_EQ(slot_of_key("123456789"), 0x31c3 % 16384);
  EXPECT_EQ(slot_of_key("foo"), 12182);
  EXPECT_EQ(slot_of_key("bar"), 5061);
  EXPECT_EQ(slot_of_key(""), 0);
}

TEST(Slots, AreThoseOfTheHashTag) {
  EXPECT_EQ(slot_of_key("{foo}.a"), slot_of_key("foo"));
  EXPECT_EQ(slot_of_key("a{foo}{bar}"), slot_of_key("foo"));
  EXPECT_EQ(slot_of_key("foo{{bar}}zap"), slot_of_key("{bar"));
  EXPECT_NE(slot_of_key("foo{}{bar}"), slot_of_key("bar"));  // an empty tag is none
  EXPECT_NE(slot_of_key("foo{bar"), slot_of_key("bar"));
}

TEST(CommandRules, KnowTheFirstKey) {
  const std::uint16_t foo = slot_of_key("foo");
  EXPECT_EQ(slot_of(Command("GET", "foo")), foo);
  EXPECT_EQ(slot_of(Command("mset", "foo", "1", "bar", "2")), foo);
  EXPECT_EQ(slot_of(Command("EVAL", "return 1", 1, "foo", "arg")), foo);
  EXPECT_EQ(slot_of(Command("EVAL", "return 1", 0, "foo")), std::nullopt);
  EXPECT_EQ(slot_of(Command("BITOP", "AND", "foo", "bar")), foo);
  EXPECT_EQ(slot_of(Command("OBJECT", "ENCODING", "foo")), foo);
  EXPECT_EQ(slot_of(Command("ZUNION", 2, "foo", "bar")), foo);
  EXPECT_EQ(slot_of(Command("BLMPOP", 0, 1, "foo", "LEFT")), foo);
  EXPECT_EQ(slot_of(Command("XREAD", "COUNT", 1, "STREAMS", "foo", "$")), foo);
  EXPECT_EQ(slot_of(Command("XREADGROUP", "GROUP", "g", "c", "streams", "foo", ">")), foo);
  EXPECT_EQ(slot_of(Command("XREAD", "STREAMS")), std::nullopt);
  EXPECT_EQ(slot_of(Command("PING", "foo")), std::nullopt);
  EXPECT_EQ(slot_of(Command("MODULE.GET", "x", "y").routed_by("foo")), foo);
}

TEST(CommandRules, KnowWhatBlocks) {
  EXPECT_TRUE(is_blocking(Command("blpop", "a", 0)));
  EXPECT_TRUE(is_blocking(Command("WAIT", 1, 0)));
  EXPECT_TRUE(is_blocking(Command("XREAD", "BLOCK", 0, "STREAMS", "a", "$")));
  EXPECT_FALSE(is_blocking(Command("XREAD", "STREAMS", "a", "0")));
  EXPECT_FALSE(is_blocking(Command("LPOP", "a")));
}

TEST(CommandRules, KnowWhatChangesAConnection) {
  EXPECT_NE(refusal_of(Command("subscribe", "a")), nullptr);
  EXPECT_NE(refusal_of(Command("CLIENT", "REPLY", "OFF")), nullptr);
  EXPECT_EQ(refusal_of(Command("CLIENT", "LIST")), nullptr);
  EXPECT_EQ(refusal_of(Command("GET", "a")), nullptr);
}

}  // namespace
}  // namespace skua::resp
