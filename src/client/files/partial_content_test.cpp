// SPDX-License-Identifier: MIT
#include "client/files/partial_content.hpp"

#include <gtest/gtest.h>

namespace skua::client {
namespace {

TEST(ContentRange, IsStrict) {
  EXPECT_EQ(parse_content_range("bytes 4-9/10"), (ContentRange{4, 9, 10}));
  EXPECT_EQ(parse_content_range("BYTES 4-9/*"), (ContentRange{4, 9, std::nullopt}));
  EXPECT_EQ(parse_content_range("bytes */10"), (ContentRange{std::nullopt, std::nullopt, 10}));
  for (const char* text :
       {"", "bytes", "bytes 4-9", "bytes 9-4/10", "bytes 4-10/10", "bytes */*", "bytes -9/10",
        "bytes 4-/10", "items 4-9/10", "bytes 4-9/10 ", "bytes 99999999999999999999-9/10"}) {
    EXPECT_FALSE(parse_content_range(text)) << text;
  }
}

TEST(StrongValidator, IsAnEntityTagOrADateThatIsOldEnough) {
  constexpr const char* then = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr const char* later = "Sun, 06 Nov 1994 08:49:38 GMT";
  EXPECT_EQ(strong_validator({.etag = "\"a\"", .last_modified = then, .date = later}), "\"a\"");
  EXPECT_EQ(strong_validator({.etag = "W/\"a\"", .last_modified = then, .date = later}), "");
  EXPECT_EQ(strong_validator({.last_modified = then, .date = later}), then);
  EXPECT_EQ(strong_validator({.last_modified = then, .date = then}), "");
  EXPECT_EQ(strong_validator({.last_modified = then}), "");
  EXPECT_EQ(strong_validator({.etag = "unquoted"}), "");
}

TEST(PartialContent, APartSaysWhetherItIsOfTheSame) {
  EXPECT_TRUE(may_belong("\"a\"", {.etag = "\"a\""}));
  EXPECT_TRUE(may_belong("\"a\"", {.last_modified = "Sun, 06 Nov 1994 08:49:37 GMT"}));
  EXPECT_FALSE(may_belong("\"a\"", {.etag = "\"b\""}));
  EXPECT_FALSE(may_belong("\"a\"", {.etag = "W/\"a\""}));
  const std::string date = "Sun, 06 Nov 1994 08:49:37 GMT";
  EXPECT_TRUE(may_belong(date, {.etag = "\"a\"", .last_modified = date}));
  EXPECT_FALSE(may_belong(date, {.last_modified = "Sun, 06 Nov 1994 08:49:38 GMT"}));
}

TEST(Judge, AnAnswerToARequestForTheWhole) {
  EXPECT_EQ(judge({.status = 200}, nullptr), Verdict::Restart);
  EXPECT_EQ(judge({.status = 206, .range = {0, 9, 10}}, nullptr), Verdict::Refuse);
  EXPECT_EQ(judge({.status = 416, .range = {{}, {}, 10}}, nullptr), Verdict::Refuse);
  EXPECT_EQ(judge({.status = 404}, nullptr), Verdict::Refuse);
}

TEST(Judge, AnAnswerToARequestForTheRest) {
  const KnownPart part{.size_bytes = 4, .validator = "\"v\"", .total_bytes = 10};
  const Validators other{.etag = "\"w\""};
  EXPECT_EQ(judge({.status = 206, .range = {4, 9, 10}}, &part), Verdict::Append);
  EXPECT_EQ(judge({.status = 206, .range = {4, 9, {}}}, &part), Verdict::Append);
  EXPECT_EQ(judge({.status = 206, .range = {3, 9, 10}}, &part), Verdict::Again);
  EXPECT_EQ(judge({.status = 206, .range = {4, 9, 11}}, &part), Verdict::Again);
  EXPECT_EQ(judge({.status = 206, .range = {4, 9, 10}, .validators = other}, &part),
            Verdict::Again);
  EXPECT_EQ(judge({.status = 206}, &part), Verdict::Again);
  EXPECT_EQ(judge({.status = 200}, &part), Verdict::Restart);
  EXPECT_EQ(judge({.status = 416, .range = {{}, {}, 10}}, &part), Verdict::Again);
  EXPECT_EQ(judge({.status = 503}, &part), Verdict::Refuse);
}

TEST(Judge, AnAnswerToARequestForWhatFollowsTheWhole) {
  const KnownPart whole{.size_bytes = 10, .validator = "\"v\"", .is_all = true};
  EXPECT_EQ(judge({.status = 416, .range = {{}, {}, 10}}, &whole), Verdict::Whole);
  EXPECT_EQ(judge({.status = 416, .range = {{}, {}, 11}}, &whole), Verdict::Again);
  EXPECT_EQ(judge({.status = 206, .range = {10, 10, 11}}, &whole), Verdict::Again);
}

}  // namespace
}  // namespace skua::client
