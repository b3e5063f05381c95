// SPDX-License-Identifier: MIT
#include "redis/slot_map.hpp"

#include <string_view>

#include <gtest/gtest.h>

#include "resp/reply_parser.hpp"

namespace skua::redis {
namespace {

const Endpoint asked{.host = "10.0.0.1", .port = 7000};

std::vector<SlotRange> ranges_of(std::string_view bytes) {
  resp::ReplyParser parser;
  EXPECT_EQ(parser.next(bytes), resp::ReplyParser::Event::Reply);
  return read_slots(parser.take(), asked);
}

TEST(SlotMap, ReadsRangesAndMasters) {
  const auto ranges = ranges_of(
      "*2\r\n"
      "*4\r\n:0\r\n:5460\r\n*3\r\n+10.0.0.2\r\n:7001\r\n+id\r\n*3\r\n+10.0.0.3\r\n:7002\r\n+id\r\n"
      "*3\r\n:5461\r\n:16383\r\n*4\r\n+node.example\r\n:7003\r\n+id\r\n*0\r\n");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].first, 0);
  EXPECT_EQ(ranges[0].last, 5460);
  EXPECT_EQ(ranges[0].master.to_string(), "10.0.0.2:7001");
  EXPECT_EQ(ranges[1].master.to_string(), "node.example:7003");
}

TEST(SlotMap, ANodeWithoutAnAddressIsTheOneThatWasAsked) {
  EXPECT_EQ(ranges_of("*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n_\r\n:7001\r\n+id\r\n")[0].master.to_string(),
            "10.0.0.1:7001");
}

TEST(SlotMap, MalformedRangesAreLeftOut) {
  EXPECT_TRUE(ranges_of("*0\r\n").empty());
  EXPECT_TRUE(ranges_of("+OK\r\n").empty());
  EXPECT_TRUE(ranges_of("*1\r\n*3\r\n:5\r\n:1\r\n*2\r\n+a\r\n:1\r\n").empty());
  EXPECT_TRUE(ranges_of("*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n+a\r\n:1\r\n").empty());
  EXPECT_TRUE(ranges_of("*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n+a\r\n:1\r\n").empty());
  EXPECT_TRUE(ranges_of("*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+a\r\n:99999\r\n").empty());
  EXPECT_TRUE(ranges_of("*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+?\r\n:1\r\n").empty());
}

TEST(Redirections, AreRead) {
  using Kind = Redirection::Kind;
  const auto moved = read_redirection("MOVED 3999 127.0.0.1:6381", asked);
  EXPECT_EQ(moved.kind, Kind::Moved);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.place.to_string(), "127.0.0.1:6381");
  EXPECT_EQ(read_redirection("ASK 1 ::1:6381", asked).place.to_string(), "[::1]:6381");
  EXPECT_EQ(read_redirection("MOVED 1 :6381", asked).place.to_string(), "10.0.0.1:6381");
  EXPECT_EQ(read_redirection("MOVED 1 ?:6381", asked).kind, Kind::Later);
  EXPECT_EQ(read_redirection("TRYAGAIN Multiple keys", asked).kind, Kind::Later);
  EXPECT_EQ(read_redirection("CLUSTERDOWN Hash slot not served", asked).kind, Kind::Later);
  EXPECT_EQ(read_redirection("ERR MOVED 1 a:1", asked).kind, Kind::None);
  EXPECT_EQ(read_redirection("MOVED 99999 a:1", asked).kind, Kind::None);
  EXPECT_EQ(read_redirection("MOVED", asked).kind, Kind::None);
  EXPECT_EQ(read_redirection("", asked).kind, Kind::None);
}

TEST(Endpoints, AreParsed) {
  EXPECT_EQ(parse_endpoint("a:1")->to_string(), "a:1");
  EXPECT_EQ(parse_endpoint("[::1]:1")->host, "::1");
  EXPECT_EQ(parse_endpoint("::1:6379")->to_string(), "[::1]:6379");
  for (const char* const text : {"", "a", "a:", ":1", "a:0", "a:65536", "a:1x", "[]:1"}) {
    EXPECT_EQ(parse_endpoint(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace skua::redis
