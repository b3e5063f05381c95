// SPDX-License-Identifier: MIT
#include "coding/coding.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace skua::coding {
namespace {

constexpr Coding all[] = {Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd};

class Codings : public ::testing::TestWithParam<Coding> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam())) GTEST_SKIP() << "this build does not know it";
  }

  [[nodiscard]] Encoder encoder(int level) const { return *Encoder::create(GetParam(), level); }
  [[nodiscard]] std::string encode(std::string_view text) const {
    Encoder made = encoder(levels(GetParam()).usual);
    std::string out;
    EXPECT_TRUE(made.finish(text, out));
    return out;
  }
  [[nodiscard]] Decoder decoder(DecodeLimits limits = {}) const {
    return *Decoder::create(GetParam(), limits);
  }
  /// Decodes in pieces of this size; returns nullopt if the input is refused.
  [[nodiscard]] std::optional<std::string> decode(std::string_view coded,
                                                  std::size_t piece = 1U << 30U) const {
    Decoder made = decoder();
    std::string out;
    for (std::size_t at = 0; at < coded.size(); at += piece) {
      if (!made.push(coded.substr(at, piece), out)) return std::nullopt;
    }
    if (!made.finish()) return std::nullopt;
    return out;
  }
};

// Text that compresses, but not extremely well.
std::string sample(std::size_t size_bytes) {
  std::string text;
  unsigned state = 1;
  while (text.size() < size_bytes) {
    state = state * 1664525U + 1013904223U;
    text.append("{\"name\":\"").append(std::to_string(state >> 12U)).append("\"},\n");
  }
  text.resize(size_bytes);
  return text;
}

TEST_P(Codings, AreReadAsTheyWereWritten) {
  for (const std::size_t size : {0U, 1U, 100U, 16384U, 100'000U, 1'000'000U}) {
    const std::string text = sample(size);
    EXPECT_EQ(decode(encode(text)), text) << size;
  }
  EXPECT_LT(encode(sample(100'000)).size(), 40'000U);
}

TEST_P(Codings, HaveLevels) {
  const std::string text = sample(50'000);
  for (int level = levels(GetParam()).fastest; level <= levels(GetParam()).smallest; ++level) {
    Encoder made = encoder(level);
    std::string out;
    ASSERT_TRUE(made.finish(text, out));
    EXPECT_EQ(decode(out), text) << level;
  }
  EXPECT_THROW((void)Encoder::create(GetParam(), 99), std::invalid_argument);
  EXPECT_THROW((void)Encoder::create(GetParam(), -1), std::invalid_argument);
}

TEST_P(Codings, MeanTheSameInPiecesOfAnySize) {
  const std::string text = sample(40'000);
  const std::string whole = encode(text);
  for (const std::size_t piece : {1U, 2U, 7U, 4096U}) EXPECT_EQ(decode(whole, piece), text);
  Encoder made = encoder(1);
  std::string out;
  for (const char c : text) ASSERT_TRUE(made.push({&c, 1}, out));
  ASSERT_TRUE(made.finish({}, out));
  EXPECT_EQ(decode(out), text);
}

TEST_P(Codings, MeanTheSameSplitAtEveryByte) {
  const std::string text = sample(600);
  const std::string coded = encode(text);
  for (std::size_t split = 0; split <= coded.size(); ++split) {
    Decoder made = decoder();
    std::string out;
    ASSERT_TRUE(made.push(std::string_view(coded).substr(0, split), out)) << split;
    ASSERT_EQ(made.finish().has_value(), split == coded.size()) << "cut off at " << split;
    ASSERT_TRUE(made.push(std::string_view(coded).substr(split), out)) << split;
    ASSERT_TRUE(made.finish()) << split;
    ASSERT_EQ(out, text) << split;
  }
}

TEST_P(Codings, WhatIsFlushedCanBeDecoded) {
  Encoder made = encoder(levels(GetParam()).usual);
  Decoder read = decoder();
  std::string text;
  for (const std::string_view piece : {"data: one\n\n", "data: two\n\n"}) {
    std::string out;
    ASSERT_TRUE(made.push(piece, out));
    ASSERT_TRUE(made.flush(out));
    ASSERT_TRUE(read.push(out, text));
    EXPECT_TRUE(text.ends_with(piece));
  }
  std::string out;
  ASSERT_TRUE(made.finish("end", out));
  ASSERT_TRUE(read.push(out, text));
  EXPECT_TRUE(read.finish());
  EXPECT_EQ(text, "data: one\n\ndata: two\n\nend");
}

TEST_P(Codings, AnEncoderBeginsAnew) {
  Encoder made = encoder(levels(GetParam()).usual);
  std::string broken_off;
  ASSERT_TRUE(made.push(sample(100'000), broken_off));
  for (const std::string_view text : {"first", "second"}) {
    ASSERT_TRUE(made.restart());
    std::string out;
    ASSERT_TRUE(made.finish(text, out));
    EXPECT_EQ(decode(out), text);
  }
}

TEST_P(Codings, RefuseWhatFollowsTheEnd) {
  const std::string coded = encode("text");
  for (const std::string& more : {std::string("x"), std::string(1, '\0'), std::string(30, '?')}) {
    EXPECT_EQ(decode(coded + more), std::nullopt);
    EXPECT_EQ(decode(coded + more, 1), std::nullopt);
  }
}

TEST_P(Codings, RefuseWhatIsNoneOfTheirs) {
  EXPECT_EQ(decode(""), std::nullopt);
  EXPECT_EQ(decode("this is plain text, not a coding"), std::nullopt);
  EXPECT_EQ(decode(std::string(100, '\xff')), std::nullopt);
  Decoder made = decoder();
  std::string out;
  const Result<void> pushed = made.push("this is plain text, not a coding", out);
  ASSERT_TRUE(!pushed || !made.finish());
  if (pushed) return;  // it looks truncated
  EXPECT_EQ(pushed.error().code(), Errc::MalformedCoding);
  EXPECT_EQ(made.push(encode("x"), out).error().code(), Errc::MalformedCoding) << "for good";
  EXPECT_FALSE(made.finish());
}

TEST_P(Codings, SurviveEveryWrongByte) {
  const std::string coded = encode(sample(300));
  for (std::size_t at = 0; at < coded.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      std::string wrong = coded;
      wrong[at] = static_cast<char>(static_cast<unsigned char>(wrong[at]) ^ flip);
      const auto text = decode(wrong);
      ASSERT_TRUE(!text || text->size() <= DecodeLimits{}.output_bytes);
    }
  }
}

// A gigabyte of zeros.
std::string bomb(Coding coding) {
  const std::string zeros(1U << 20U, '\0');
  Encoder made = *Encoder::create(coding, 1);
  std::string out;
  for (int i = 0; i < 1024; ++i) EXPECT_TRUE(made.push(zeros, out));
  EXPECT_TRUE(made.finish({}, out));
  return out;
}

// Returns the output size, in buffers of 16 KiB, up to the expected error.
std::uint64_t explode(Decoder made, std::string_view coded, Errc expected) {
  std::string room(16U << 10U, '\0');
  std::uint64_t total = 0;
  for (;;) {
    const Result<std::size_t> read = made.read(coded, room);
    if (!read) {
      EXPECT_EQ(read.error().code(), expected);
      EXPECT_EQ(made.finish().error().code(), expected);
      return total;
    }
    if (*read == 0) {
      EXPECT_EQ(expected, Errc::None);
      return total;
    }
    total += *read;
  }
}

TEST_P(Codings, ABombStopsAtItsLimits) {
  const std::string coded = bomb(GetParam());
  const std::uint64_t by_ratio = explode(decoder(), coded, Errc::BodyTooLong);
  EXPECT_LE(by_ratio, DecodeLimits{}.free_bytes + 100 * coded.size());
  EXPECT_LT(by_ratio, 110U << 20U);
  const DecodeLimits any{.output_bytes = 10'000'001, .ratio = 0};
  const std::uint64_t by_size = explode(decoder(any), coded, Errc::BodyTooLong);
  EXPECT_LE(by_size, any.output_bytes);
  EXPECT_GT(by_size, any.output_bytes - (16U << 10U));
}

TEST_P(Codings, TheLimitItselfIsAllowed) {
  const std::string text = sample(50'000);
  const std::string coded = encode(text);
  EXPECT_EQ(explode(decoder({.output_bytes = text.size()}), coded, Errc::None), text.size());
  explode(decoder({.output_bytes = text.size() - 1}), coded, Errc::BodyTooLong);
  explode(decoder({.output_bytes = 0}), coded, Errc::BodyTooLong);
  EXPECT_EQ(explode(decoder({.output_bytes = 0}), encode(""), Errc::None), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Codings, ::testing::ValuesIn(all),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(Coding, HasAName) {
  for (const Coding coding : all) EXPECT_EQ(find_coding(name(coding)), coding);
  EXPECT_EQ(find_coding("X-GZIP"), Coding::Gzip);
  EXPECT_EQ(find_coding("BR"), Coding::Brotli);
  EXPECT_EQ(find_coding("identity"), std::nullopt);
  EXPECT_EQ(find_coding(""), std::nullopt);
}

TEST(Coding, SaysWhatThisBuildDoesNotKnow) {
  for (const Coding coding : all) {
    EXPECT_EQ(Encoder::create(coding, 1).has_value(), is_available(coding));
    const auto decoder = Decoder::create(coding);
    EXPECT_EQ(decoder.has_value(), is_available(coding));
    if (decoder) continue;
    EXPECT_EQ(decoder.error().code(), Errc::Unsupported);
  }
}

// gzip members and zstd frames may be concatenated; 0x1f8b starts a gzip member.
TEST(Coding, MembersAreJoined) {
  for (const Coding coding : {Coding::Gzip, Coding::Zstd}) {
    if (!is_available(coding)) continue;
    std::string joined;
    for (const std::string_view text : {"one, ", "", "two"}) {
      ASSERT_TRUE(Encoder::create(coding, 1)->finish(text, joined));
    }
    for (const std::size_t piece : {std::size_t{1}, joined.size()}) {
      Decoder made = *Decoder::create(coding);
      std::string out;
      for (std::size_t at = 0; at < joined.size(); at += piece) {
        ASSERT_TRUE(made.push(std::string_view(joined).substr(at, piece), out));
      }
      EXPECT_TRUE(made.finish());
      EXPECT_EQ(out, "one, two");
    }
    Decoder cut = *Decoder::create(coding);
    std::string out;
    ASSERT_TRUE(cut.push(std::string_view(joined).substr(0, joined.size() - 1), out));
    EXPECT_FALSE(cut.finish());
  }
}

// `zstd` does not include formats from before the standard, which some libraries still read.
TEST(Coding, AZstdFrameBeginsAsTheStandardSays) {
  if (!is_available(Coding::Zstd)) GTEST_SKIP() << "this build does not know it";
  const std::string skipped("\x5e\x2a\x4d\x18\x03\0\0\0abc", 11);
  std::string coded = skipped;
  ASSERT_TRUE(Encoder::create(Coding::Zstd, 1)->finish("text", coded));
  coded += skipped;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, coded.size()}) {
    Decoder made = *Decoder::create(Coding::Zstd);
    std::string out;
    for (std::size_t at = 0; at < coded.size(); at += piece) {
      ASSERT_TRUE(made.push(std::string_view(coded).substr(at, piece), out));
    }
    EXPECT_TRUE(made.finish());
    EXPECT_EQ(out, "text");
  }
  for (unsigned version = 0x22; version < 0x28; ++version) {
    std::string out;
    const std::string old = coded + static_cast<char>(version);
    EXPECT_FALSE(Decoder::create(Coding::Zstd)->push(old, out)) << version;
  }
}

// Some servers send deflate without the six bytes of RFC 1950 around it.
TEST(Coding, RawDeflateIsReadWhereThatIsAskedFor) {
  if (!is_available(Coding::Deflate)) GTEST_SKIP() << "this build does not know it";
  for (const std::string& text : {std::string(), std::string("text"), sample(100'000)}) {
    for (int level = levels(Coding::Deflate).fastest; level <= levels(Coding::Deflate).smallest;
         ++level) {
      std::string wrapped;
      ASSERT_TRUE(Encoder::create(Coding::Deflate, level)->finish(text, wrapped));
      const std::string raw = wrapped.substr(2, wrapped.size() - 6);
      for (const std::string& coded : {wrapped, raw}) {
        Decoder made = *Decoder::create(Coding::Deflate, {}, RawDeflate::Taken);
        std::string out;
        ASSERT_TRUE(made.push(std::string_view(coded).substr(0, 1), out));
        ASSERT_TRUE(made.push(std::string_view(coded).substr(1), out));
        EXPECT_TRUE(made.finish());
        EXPECT_EQ(out, text) << level;
        EXPECT_FALSE(made.push("x", out)) << "bytes after the end";
      }
      Decoder strict = *Decoder::create(Coding::Deflate);
      std::string out;
      EXPECT_TRUE(!strict.push(raw, out) || !strict.finish()) << level;
    }
  }
}

// RFC 9659: 8 MiB is the largest window; this frame header asks for 2 GiB.
TEST(Coding, AZstdWindowForWhichThereIsNoMemoryIsRefused) {
  if (!is_available(Coding::Zstd)) GTEST_SKIP() << "this build does not know it";
  std::string out;
  const std::string_view head("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00\x00\x00\x00", 12);
  EXPECT_FALSE(Decoder::create(Coding::Zstd)->push(head, out));
}

}  // namespace
}  // namespace skua::coding
