// SPDX-License-Identifier: MIT
#include "client/wire/decoding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "h1/head_parser.hpp"

namespace skua::client {
namespace {

using coding::Coding;
using coding::DecodeLimits;
using coding::Encoder;

std::string encode(Coding coding, std::string_view text) {
  Encoder encoder = *Encoder::create(coding, coding::levels(coding).fastest);
  std::string out;
  EXPECT_TRUE(encoder.finish(text, out));
  return out;
}

// Deflate without the zlib wrapper, as some servers send it: RFC 1950 §2.2 has a two-byte header
// and a four-byte checksum.
std::string raw_deflate(std::string_view text) {
  const std::string whole = encode(Coding::Deflate, text);
  return whole.substr(2, whole.size() - 6);
}

struct Decoded {
  std::string text{};
  Errc error = Errc::None;
};

/// Decodes in pieces of this size, with a small output buffer.
Decoded decode(std::string_view codings, std::string_view coded, std::size_t piece = 1U << 30U,
               DecodeLimits limits = {}) {
  Result<ContentDecoder> decoder = ContentDecoder::create(codings, limits);
  if (!decoder) return {.error = decoder.error().code()};
  Decoded out;
  std::array<char, 1000> room;
  while (!coded.empty()) {
    const std::string copy(coded.substr(0, piece));  // so that a sanitizer sees overreads
    coded.remove_prefix(copy.size());
    for (std::string_view input = copy;;) {
      const Result<std::size_t> made = decoder->read(input, room);
      if (!made) {
        EXPECT_EQ(decoder->read(input, room).error().code(), made.error().code()) << "for good";
        EXPECT_EQ(decoder->finish().error().code(), made.error().code());
        return {.text = out.text, .error = made.error().code()};
      }
      if (*made == 0) break;
      out.text.append(room.data(), *made);
    }
  }
  out.error = decoder->finish().error().code();
  return out;
}

std::string sample(std::size_t size_bytes) {
  std::string text;
  for (unsigned state = 1; text.size() < size_bytes;) {
    state = state * 1664525U + 1013904223U;
    text.append(std::to_string(state >> 16U)).append(",");
  }
  return text;
}

bool are_all_available() {
  return coding::is_available(Coding::Gzip) && coding::is_available(Coding::Brotli) &&
         coding::is_available(Coding::Zstd);
}

class ContentDecoding : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!are_all_available()) GTEST_SKIP() << "this build does not know all codings";
  }
};

TEST_F(ContentDecoding, TakesOffWhatTheFieldNames) {
  const std::string text = sample(60'000);
  const std::pair<std::string_view, std::string> table[] = {
      {"gzip", encode(Coding::Gzip, text)},
      {"X-Gzip", encode(Coding::Gzip, text)},
      {"deflate", encode(Coding::Deflate, text)},
      {"deflate", raw_deflate(text)},
      {"BR", encode(Coding::Brotli, text)},
      {"zstd", encode(Coding::Zstd, text)},
      {"identity", text},
      {"none", text},
      {"None, gzip", encode(Coding::Gzip, text)},
      {"", text},
      {"identity, , gzip,", encode(Coding::Gzip, text)},
  };
  for (const auto& [codings, coded] : table) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{5000}, coded.size()}) {
      const Decoded out = decode(codings, coded, piece);
      EXPECT_EQ(out.error, Errc::None) << codings;
      EXPECT_EQ(out.text, text) << codings << " in pieces of " << piece;
    }
  }
  EXPECT_TRUE(ContentDecoder::create("identity, None")->is_identity());
  EXPECT_FALSE(ContentDecoder::create("gzip")->is_identity());
}

TEST_F(ContentDecoding, TakesOffSeveralTheLastFirst) {
  const std::string text = sample(100'000);
  const std::string two = encode(Coding::Brotli, encode(Coding::Gzip, text));
  const std::string four = encode(Coding::Zstd, raw_deflate(two));
  for (const std::size_t piece : {std::size_t{1}, std::size_t{777}, four.size()}) {
    EXPECT_EQ(decode("gzip, br", two, piece).text, text) << piece;
    const Decoded out = decode("gzip, br, deflate, zstd", four, piece);
    EXPECT_EQ(out.error, Errc::None);
    EXPECT_EQ(out.text, text) << piece;
  }
  EXPECT_EQ(decode("br, gzip", two).error, Errc::MalformedCoding);
}

TEST_F(ContentDecoding, ReadsTheFieldOfSeveralLines) {
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nA: zstd\r\ncontent-encoding: identity, br\r\n"
      "\r\n";
  std::array<http::FieldLine, 8> lines;
  h1::HeadParser parser(h1::HeadKind::Response, {}, lines);
  ASSERT_EQ(parser.parse(bytes), h1::ParseStatus::Complete);
  Result<ContentDecoder> decoder = ContentDecoder::create(parser.head());
  ASSERT_TRUE(decoder);
  const std::string coded = encode(Coding::Brotli, encode(Coding::Gzip, "text"));
  std::string_view input = coded;
  std::array<char, 100> room;
  const Result<std::size_t> made = decoder->read(input, room);
  ASSERT_TRUE(made);
  EXPECT_EQ(std::string_view(room.data(), *made), "text");
}

TEST_F(ContentDecoding, RefusesCodingsThatItDoesNotKnow) {
  for (const std::string_view unknown :
       {"compress", "gzip, utf-8", "aws-chunked", "exi, gzip", "gzip, gzip, gzip, gzip, gzip"}) {
    EXPECT_EQ(decode(unknown, "x").error, Errc::Unsupported) << unknown;
  }
  for (const std::string_view malformed : {"gzip;q=1", "g zip", "gzip br", "\"gzip\""}) {
    EXPECT_EQ(decode(malformed, "x").error, Errc::MalformedField) << malformed;
  }
  EXPECT_EQ(decode("gzip,gzip,gzip,gzip,identity", "").error, Errc::None);
}

TEST_F(ContentDecoding, ContentWithoutABytesIsEmpty) {
  for (const std::string_view codings : {"", "gzip", "deflate", "br", "zstd", "gzip, br"}) {
    const Decoded out = decode(codings, "");
    EXPECT_EQ(out.error, Errc::None) << codings;
    EXPECT_EQ(out.text, "");
  }
}

TEST_F(ContentDecoding, WhatIsCutOffIsAnError) {
  const std::string text = sample(300);
  const std::pair<std::string_view, std::string> table[] = {
      {"gzip", encode(Coding::Gzip, text)},
      {"deflate", encode(Coding::Deflate, text)},
      {"deflate", raw_deflate(text)},
      {"br", encode(Coding::Brotli, text)},
      {"zstd", encode(Coding::Zstd, text)},
      {"gzip, br", encode(Coding::Brotli, encode(Coding::Gzip, text))},
      // The outer coding is complete, the inner one is cut off.
      {"gzip, br", encode(Coding::Brotli, encode(Coding::Gzip, text).substr(0, 100))},
  };
  for (const auto& [codings, coded] : table) {
    for (std::size_t size = 1; size < coded.size(); ++size) {
      ASSERT_EQ(decode(codings, coded.substr(0, size)).error, Errc::MalformedCoding)
          << codings << " cut off at " << size;
    }
  }
  EXPECT_EQ(decode(table[6].first, table[6].second).error, Errc::MalformedCoding);
}

TEST_F(ContentDecoding, WhatFollowsTheEndIsAnError) {
  const std::string text = sample(300);
  const std::string gzip = encode(Coding::Gzip, text);
  const std::pair<std::string_view, std::string> table[] = {
      {"gzip", gzip},
      {"deflate", encode(Coding::Deflate, text)},
      {"deflate", raw_deflate(text)},
      {"br", encode(Coding::Brotli, text)},
      {"zstd", encode(Coding::Zstd, text)},
      {"gzip, br", encode(Coding::Brotli, gzip)},
  };
  for (const auto& [codings, coded] : table) {
    for (const std::string& more :
         {std::string("x"), std::string(40, '\0'), std::string("<html>")}) {
      EXPECT_EQ(decode(codings, coded + more).error, Errc::MalformedCoding) << codings;
      EXPECT_EQ(decode(codings, coded + more, 1).error, Errc::MalformedCoding) << codings;
    }
  }
  EXPECT_EQ(decode("gzip, br", encode(Coding::Brotli, gzip + "x")).error, Errc::MalformedCoding);
  EXPECT_EQ(decode("gzip", "plain text that says it is not").error, Errc::MalformedCoding);
}

// Encodes 64 MiB of zeros.
std::string zeros(Coding coding) {
  const std::string block(1U << 20U, '\0');
  Encoder encoder = *Encoder::create(coding, coding::levels(coding).fastest);
  std::string out;
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(encoder.push(block, out));
  EXPECT_TRUE(encoder.finish({}, out));
  return out;
}

TEST_F(ContentDecoding, ABombStopsAtItsLimits) {
  for (const Coding coding : {Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd}) {
    const std::string coded = zeros(coding);
    const DecodeLimits limits{.ratio = 10, .free_bytes = 100'000};
    const Decoded by_ratio = decode(name(coding), coded, 1U << 30U, limits);
    EXPECT_EQ(by_ratio.error, Errc::BodyTooLong) << name(coding);
    EXPECT_LE(by_ratio.text.size(), limits.free_bytes + limits.ratio * (coded.size() + 1));
    const Decoded by_size =
        decode(name(coding), coded, 1U << 30U, {.output_bytes = 300'000, .ratio = 0});
    EXPECT_EQ(by_size.error, Errc::BodyTooLong) << name(coding);
    EXPECT_LE(by_size.text.size(), 300'000U);
  }
}

// Each coding alone stays within its ratio; both together do not.
TEST_F(ContentDecoding, ABombInABombGoesOffNoLater) {
  const std::string inner = zeros(Coding::Gzip);
  const std::string outer = encode(Coding::Brotli, inner);
  ASSERT_LT(outer.size() * 10, inner.size());
  const DecodeLimits limits{.ratio = 5000, .free_bytes = 100'000};
  EXPECT_EQ(decode("gzip", inner, 1U << 30U, limits).error, Errc::None);
  const Decoded out = decode("gzip, br", outer, 1U << 30U, limits);
  EXPECT_EQ(out.error, Errc::BodyTooLong);
  EXPECT_LE(out.text.size(), limits.free_bytes + limits.ratio * (outer.size() + 1));
}

// The final output is short; the intermediate output is not.
TEST_F(ContentDecoding, ABombOfNothingStopsToo) {
  std::string members;
  const std::string empty = encode(Coding::Gzip, "");
  while (members.size() < 4'000'000) members += empty;
  const std::string coded = encode(Coding::Brotli, members);
  EXPECT_EQ(decode("gzip, br", coded, 1U << 30U, {.ratio = 0}).error, Errc::None);
  EXPECT_EQ(decode("gzip, br", coded).error, Errc::BodyTooLong);
  EXPECT_EQ(decode("gzip, br", coded, 1U << 30U, {.output_bytes = 1'000'000, .ratio = 0}).error,
            Errc::BodyTooLong);
}

TEST_F(ContentDecoding, AsksForWhatItDecodes) { EXPECT_EQ(accepted_codings(), "zstd, br, gzip"); }

}  // namespace
}  // namespace skua::client
