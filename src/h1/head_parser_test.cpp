// SPDX-License-Identifier: MIT
#include "h1/head_parser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

namespace skua::h1 {
namespace {

using Storage = std::array<http::FieldLine, 128>;

/// Returns the outcome of a parse as text, for comparison.
std::string outcome(HeadParser& parser, ParseStatus status) {
  if (status == ParseStatus::NeedMore) return "need more";
  if (status == ParseStatus::Failed) return "error " + std::string(message(parser.error()));
  const http::Head& head = parser.head();
  std::string out(head.method_name());
  out += ' ' + std::string(head.target()) + ' ' + std::to_string(head.minor_version) + ' ' +
         std::to_string(head.status) + ' ' + std::to_string(head.size_bytes) + '\n';
  for (const http::FieldLine& line : head.fields) {
    out += std::to_string(static_cast<int>(line.name)) + std::string(head.name(line)) + '=' +
           std::string(head.value(line)) + '\n';
  }
  return out;
}

std::string parse_whole(std::string_view text, HeadKind kind = HeadKind::Request,
                        const HeadLimits& limits = {}, scan::Isa isa = scan::best_isa()) {
  Storage storage;
  HeadParser parser(kind, limits, storage, isa);
  return outcome(parser, parser.parse(text));
}

/// Gives the parser one more byte per call, each time at a new address.
std::string parse_bytewise(std::string_view text, HeadKind kind, const HeadLimits& limits,
                           scan::Isa isa) {
  Storage storage;
  HeadParser parser(kind, limits, storage, isa);
  ParseStatus status = ParseStatus::NeedMore;
  std::string copy;
  for (std::size_t i = 1; i <= text.size() && status == ParseStatus::NeedMore; ++i) {
    copy = std::string(text.substr(0, i));
    copy.shrink_to_fit();
    status = parser.parse(copy);
  }
  return outcome(parser, status);
}

Errc error_of(std::string_view text, const HeadLimits& limits = {}) {
  Storage storage;
  HeadParser parser(HeadKind::Request, limits, storage);
  EXPECT_EQ(parser.parse(text), ParseStatus::Failed) << text;
  return parser.error();
}

TEST(HeadParser, ParsesAHeadIntoOffsets) {
  const std::string text =
      "POST /a?b=%20 HTTP/1.0\r\nhOST:x \t\r\nX-Empty:\r\nA:\t b c \r\n\r\nrest";
  EXPECT_EQ(parse_whole(text), "POST /a?b=%20 0 0 56\n14hOST=x\n0X-Empty=\n0A=b c\n");
}

TEST(HeadParser, ParsesAResponse) {
  EXPECT_EQ(parse_whole("HTTP/1.1 404 Not Found\r\nAge: 1\r\n\r\n", HeadKind::Response),
            "GET Not Found 1 404 34\n40Age=1\n");
  EXPECT_EQ(parse_whole("HTTP/1.0 200\r\n\r\n", HeadKind::Response), "GET  0 200 16\n");
  EXPECT_EQ(parse_whole("HTTP/1.1 200 \r\n\r\n", HeadKind::Response), "GET  1 200 17\n");
}

TEST(HeadParser, ParsesTrailersWithoutAStartLine) {
  EXPECT_EQ(parse_whole("A: 1\r\nB: 2\r\n\r\n", HeadKind::Trailers), "GET  1 0 14\n0A=1\n0B=2\n");
}

TEST(HeadParser, ToleratesLeadingEmptyLinesAndCountsThem) {
  EXPECT_EQ(parse_whole("\r\nGET / HTTP/1.1\r\n\r\n"), "GET / 1 0 20\n");
  EXPECT_EQ(parse_whole("\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "GET / 1 0 22\n");
}

TEST(HeadParser, TheVersionMattersMoreThanTheMethod) {
  EXPECT_EQ(error_of("get / HTTP/1.1\r\n"), Errc::UnknownMethod);
  EXPECT_EQ(error_of("get / HTTP/2.0\r\n"), Errc::UnsupportedVersion);
  EXPECT_EQ(error_of("get / HTTP/2\r\n"), Errc::MalformedStartLine);
  EXPECT_EQ(error_of(std::string(33, 'A')), Errc::UnknownMethod);
}

TEST(HeadParser, LimitsHoldWhileAHeadIsUnfinished) {
  const HeadLimits limits{.target_bytes = 8, .field_line_bytes = 20, .head_bytes = 64, .fields = 3};
  EXPECT_EQ(error_of("GET /12345678", limits), Errc::TargetTooLong);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\n" + std::string(21, 'a'), limits), Errc::FieldTooLong);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\na:" + std::string(19, ' '), limits), Errc::FieldTooLong);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\na:1\r\na:1\r\na:1\r\na:1\r\n", limits),
            Errc::TooManyFields);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\ncookie: a=1;b=2;c=;\r\n", limits), Errc::TooManyFields);
  const std::string line = "a: 3456789012345678\r\n";
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\n" + line + line + line, limits), Errc::HeadTooLong);
}

TEST(HeadParser, ExactlyAtALimitIsFine) {
  const HeadLimits limits{.target_bytes = 3, .field_line_bytes = 5, .head_bytes = 27, .fields = 1};
  EXPECT_EQ(parse_whole("GET /12 HTTP/1.1\r\na:  b\r\n\r\n", HeadKind::Request, limits),
            "GET /12 1 0 27\n0a=b\n");
}

TEST(HeadParser, SmallStorageIsALimitToo) {
  std::array<http::FieldLine, 1> storage;
  HeadParser parser(HeadKind::Request, {}, storage);
  EXPECT_EQ(parser.parse("GET / HTTP/1.1\r\na:1\r\nb:2\r\n\r\n"), ParseStatus::Failed);
  EXPECT_EQ(parser.error(), Errc::TooManyFields);
}

TEST(HeadParser, CanBeUsedAgainAfterReset) {
  Storage storage;
  HeadParser parser(HeadKind::Request, {}, storage);
  EXPECT_EQ(parser.parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ParseStatus::Complete);
  EXPECT_EQ(parser.parse("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ParseStatus::Complete);
  parser.reset();
  EXPECT_FALSE(parser.has_begun());
  EXPECT_EQ(parser.parse("bad\r\n"), ParseStatus::Failed);
  EXPECT_EQ(parser.parse("bad\r\n"), ParseStatus::Failed);
  parser.reset();
  EXPECT_EQ(parser.parse("PUT /x HTTP/1.1\r\n\r\n"), ParseStatus::Complete);
  EXPECT_FALSE(parser.head().has(http::FieldName::Host));
  EXPECT_EQ(outcome(parser, ParseStatus::Complete), "PUT /x 1 0 19\n");
}

TEST(HeadParser, AnUnfinishedParseContinuesInAnotherParserAtAnyByte) {
  const std::string text = "\r\nPUT /?{} HTTP/1.1\r\nHost: a\r\nX-Long-Name-Here: b c\r\n\r\n";
  const std::string wanted = parse_whole(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    Storage shared;
    Storage owned;
    HeadParser first(HeadKind::Request, {}, shared);
    HeadParser second(HeadKind::Request, {}, owned);
    ASSERT_EQ(first.parse(std::string_view(text).substr(0, i)), ParseStatus::NeedMore);
    second.continue_from(first);
    shared.fill({});
    EXPECT_EQ(outcome(second, second.parse(text)), wanted) << i;
  }
}

/// Returns a random concatenation of significant pieces, which is almost a head.
std::string random_head(std::mt19937& random) {
  static const std::string pieces[] = {"GET ",
                                       "POST ",
                                       "FOO ",
                                       "/",
                                       "?",
                                       "a",
                                       "%20",
                                       " ",
                                       "\t",
                                       "HTTP/1.1",
                                       "HTTP/1.0",
                                       "\r\n",
                                       "\r\n",
                                       "\r",
                                       "\n",
                                       ":",
                                       ": ",
                                       "Host",
                                       "Cookie",
                                       "a;b;c",
                                       "{",
                                       "\x01",
                                       "\\",
                                       "\x80",
                                       "HTTP/2.0\r\n",
                                       "200 OK",
                                       ";",
                                       "Content-Length: 3\r\n",
                                       "Transfer-Encoding: chunked\r\n",
                                       "x: yyyyyyyyyyyyyyyyyyyyyyyyy\r\n"};
  std::string text = random() % 2 == 0 ? "GET /" : "";
  if (random() % 4 != 0) text += " HTTP/1.1\r\n";
  for (auto n = random() % 12; n > 0; --n) text += pieces[random() % std::size(pieces)];
  if (random() % 2 == 0) text += "\r\n\r\n";
  return text;
}

TEST(HeadParser, OutcomeNeverDependsOnSplitsOrInstructionSet) {
  std::mt19937 random(11);
  const HeadLimits limits{.target_bytes = 6, .field_line_bytes = 28, .head_bytes = 90, .fields = 4};
  for (int round = 0; round < 6000; ++round) {
    const std::string text = random_head(random);
    const auto kind = static_cast<HeadKind>(random() % 3);
    const HeadLimits used = round % 2 == 0 ? limits : HeadLimits{};
    const std::string wanted = parse_whole(text, kind, used, scan::Isa::Portable);
    for (const scan::Isa isa :
         {scan::Isa::Portable, scan::Isa::Sse42, scan::Isa::Avx2, scan::Isa::Neon}) {
      if (!scan::is_supported(isa)) continue;
      ASSERT_EQ(parse_whole(text, kind, used, isa), wanted) << text;
      ASSERT_EQ(parse_bytewise(text, kind, used, isa), wanted) << text;
    }
  }
}

}  // namespace
}  // namespace skua::h1
