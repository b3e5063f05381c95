// SPDX-License-Identifier: MIT
#include "http/message/range.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skua::http {
namespace {

using Kind = RangeSet::Kind;

std::vector<ByteRange> ranges_of(std::string_view field, std::uint64_t size_bytes) {
  const RangeSet set = parse_ranges(field, size_bytes);
  EXPECT_EQ(set.kind(), Kind::Partial) << field;
  return {set.ranges().begin(), set.ranges().end()};
}

TEST(Range, ReadsTheExamplesOfTheStandard) {
  // RFC 9110 §14.1.2, a representation of 10000 bytes
  EXPECT_EQ(ranges_of("bytes=0-499", 10000), (std::vector<ByteRange>{{0, 499}}));
  EXPECT_EQ(ranges_of("bytes=500-999", 10000), (std::vector<ByteRange>{{500, 999}}));
  EXPECT_EQ(ranges_of("bytes=-500", 10000), (std::vector<ByteRange>{{9500, 9999}}));
  EXPECT_EQ(ranges_of("bytes=9500-", 10000), (std::vector<ByteRange>{{9500, 9999}}));
  EXPECT_EQ(ranges_of("bytes=0-0,-1", 10000), (std::vector<ByteRange>{{0, 0}, {9999, 9999}}));
  EXPECT_EQ(ranges_of("bytes= 0-999, 4500-5499, -1000", 10000),
            (std::vector<ByteRange>{{0, 999}, {4500, 5499}, {9000, 9999}}));
  EXPECT_EQ(ranges_of("bytes=500-600,601-999", 10000), (std::vector<ByteRange>{{500, 999}}));
  EXPECT_EQ(ranges_of("bytes=500-700,601-999", 10000), (std::vector<ByteRange>{{500, 999}}));
}

TEST(Range, ClampsToTheEnd) {
  EXPECT_EQ(ranges_of("bytes=5-99999999999999999999999999", 10), (std::vector<ByteRange>{{5, 9}}));
  EXPECT_EQ(ranges_of("bytes=-99999999999999999999999999", 10), (std::vector<ByteRange>{{0, 9}}));
  EXPECT_EQ(ranges_of("BYTES=0-18446744073709551615", 10), (std::vector<ByteRange>{{0, 9}}));
}

TEST(Range, CannotBeSatisfiedPastTheEnd) {
  for (const std::string_view field :
       {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=-0,11-12",
        "bytes=18446744073709551615-18446744073709551615", "bytes=18446744073709551616-",
        "bytes=99999999999999999999-"}) {
    const RangeSet set = parse_ranges(field, 10);
    EXPECT_EQ(set.kind(), Kind::Unsatisfiable) << field;
    EXPECT_TRUE(set.ranges().empty());
  }
}

TEST(Range, SkipsTheUnsatisfiableAmongOthers) {
  EXPECT_EQ(ranges_of("bytes=20-30, 1-2,", 10), (std::vector<ByteRange>{{1, 2}}));
}

TEST(Range, IgnoresMalformedFields) {
  for (const std::string_view field : {"",
                                       "bytes",
                                       "bytes=",
                                       "bytes=,",
                                       "bytes=-",
                                       "bytes=a-b",
                                       "bytes=1",
                                       "bytes=5-4",
                                       "bytes=0-1,5-4",
                                       "bytes=+1-2",
                                       "bytes=1-+2",
                                       "bytes=0x1-2",
                                       "bytes=1--2",
                                       "bytes=1 -2",
                                       "bytes=1- 2",
                                       "bytes =0-1",
                                       "items=0-1",
                                       "bytes:0-1",
                                       "bytes=0-1;2-3",
                                       "bytes=--1",
                                       "bytes=1-2-3",
                                       "none",
                                       "=0-1",
                                       "bytes=99999999999999999999-5"}) {
    EXPECT_EQ(parse_ranges(field, 10).kind(), Kind::Whole) << field;
  }
}

TEST(Range, AnswersAnEmptyFileWhole) {
  for (const std::string_view field : {"bytes=0-", "bytes=0-0", "bytes=-1", "bytes=5-"}) {
    EXPECT_EQ(parse_ranges(field, 0).kind(), Kind::Whole) << field;
  }
}

TEST(Range, KeepsTheOrderAskedFor) {
  EXPECT_EQ(ranges_of("bytes=5000-5001,1-2,9000-9001", 10000),
            (std::vector<ByteRange>{{5000, 5001}, {1, 2}, {9000, 9001}}));
}

TEST(Range, JoinsWhatABridgeConnects) {
  EXPECT_EQ(ranges_of("bytes=0-9,1000-1009,5-1004", 10000), (std::vector<ByteRange>{{0, 1009}}));
  EXPECT_EQ(ranges_of("bytes=9000-9001,1000-1009,0-9,5-1004", 10000),
            (std::vector<ByteRange>{{9000, 9001}, {0, 1009}}));
}

TEST(Range, AThousandOverlappingRangesAreOne) {
  std::string field = "bytes=";
  for (int i = 0; i < 1000; ++i) field += "0-,";
  EXPECT_EQ(ranges_of(field, 1u << 30), (std::vector<ByteRange>{{0, (1u << 30) - 1}}));
}

TEST(Range, MoreThanSixteenDistinctRangesAreAnsweredWhole) {
  const auto field = [](int count) {
    std::string text = "bytes=";
    for (int i = 0; i < count; ++i) {
      text += std::to_string(i * 1000) + "-" + std::to_string(i * 1000 + 1) + ",";
    }
    return text;
  };
  EXPECT_EQ(ranges_of(field(16), 1'000'000).size(), 16u);
  EXPECT_EQ(parse_ranges(field(17), 1'000'000).kind(), Kind::Whole);
}

TEST(Range, NeverAsksForMoreBytesThanThereAre) {
  for (std::uint64_t size = 1; size < 300; size += 7) {
    for (std::uint64_t a = 0; a < size; a += 13) {
      const std::string field = "bytes=" + std::to_string(a) + "-,-" + std::to_string(size - a) +
                                ",0-" + std::to_string(a);
      EXPECT_LE(parse_ranges(field, size).total_bytes(), size);
    }
  }
}

TEST(Range, WritesContentRange) {
  EXPECT_EQ(content_range({0, 99}, 1234), "bytes 0-99/1234");
  EXPECT_EQ(unsatisfied_range(1234), "bytes */1234");
}

}  // namespace
}  // namespace skua::http
