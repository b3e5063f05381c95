// SPDX-License-Identifier: MIT
#include "h1/body_decoder.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace skua::h1 {
namespace {

const Framing chunked{.body = BodyKind::Chunked};

struct Decoded {
  std::string content{};
  std::string trailers{};
  BodyStatus status = BodyStatus::More;
  Errc error = Errc::None;
  std::size_t consumed_bytes = 0;
};

/// Decodes the input in pieces of `piece` bytes.
Decoded decode(const Framing& framing, std::string_view input, std::size_t piece,
               const BodyLimits& limits = {}) {
  BodyDecoder decoder;
  Decoded out;
  if (!decoder.start(framing, limits))
    return {.status = BodyStatus::Failed, .error = decoder.error()};
  std::string_view waiting;
  std::size_t given = 0;
  while (out.status == BodyStatus::More) {
    if (waiting.empty()) {
      waiting = input.substr(given, piece);
      given += waiting.size();
      if (waiting.empty()) break;
    }
    const std::string copy(waiting);  // lets a sanitizer detect reads past the end
    const BodyDecoder::Step step = decoder.step(copy);
    waiting.remove_prefix(step.consumed_bytes);
    out.consumed_bytes += step.consumed_bytes;
    out.content += step.data;
    out.status = step.status;
  }
  out.error = decoder.error();
  for (const http::FieldLine& line : decoder.trailers().fields) {
    out.trailers += std::string(decoder.trailers().name(line)) + '=' +
                    std::string(decoder.trailers().value(line)) + ';';
  }
  return out;
}

Errc error_of(std::string_view input, const BodyLimits& limits = {}) {
  const Errc whole = decode(chunked, input, input.size(), limits).error;
  EXPECT_EQ(decode(chunked, input, 1, limits).error, whole) << input;
  return whole;
}

TEST(BodyDecoder, TakesALengthAndLeavesTheRest) {
  const Framing framing{.body = BodyKind::Length, .length_bytes = 5};
  for (std::size_t piece = 1; piece < 9; ++piece) {
    const Decoded out = decode(framing, "helloGET /", piece);
    EXPECT_EQ(out.content, "hello");
    EXPECT_EQ(out.status, BodyStatus::Done);
    EXPECT_EQ(out.consumed_bytes, 5U);
  }
}

TEST(BodyDecoder, NoBodyIsDoneAtOnce) {
  BodyDecoder decoder;
  EXPECT_TRUE(decoder.start({}, {}));
  EXPECT_TRUE(decoder.is_done());
  EXPECT_EQ(decoder.step("x").consumed_bytes, 0U);
  EXPECT_TRUE(decoder.end_of_input());
}

TEST(BodyDecoder, TakesChunksHoweverTheyAreSplit) {
  const std::string input =
      "5\r\nhello\r\n006;a;b=c; d = \"e\\\"\xff;\" \t;f\r\n world\r\nA\r\n0123456789\r\n"
      "0;x=y\r\nX-Sum: 1\r\nContent-Length: 3\r\nhost: a\r\nX-B:\r\n\r\nGET";
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    const Decoded out = decode(chunked, input, piece);
    EXPECT_EQ(out.content, "hello world0123456789");
    EXPECT_EQ(out.status, BodyStatus::Done);
    EXPECT_EQ(out.trailers, "X-Sum=1;X-B=;");
    EXPECT_EQ(out.consumed_bytes, input.size() - 3);
  }
}

TEST(BodyDecoder, RefusesWhatIsNoChunkSize) {
  for (const std::string_view bad : {"+5\r\n",
                                     "-5\r\n",
                                     "0x5\r\n",
                                     "\r\n",
                                     " 5\r\n",
                                     "5 \r\n",
                                     "5\t\r\n",
                                     "5\n",
                                     "5\r\r\n",
                                     "5_0\r\n",
                                     "g\r\n",
                                     ";a\r\n",
                                     "5;\r\n",
                                     "5;a=\r\n",
                                     "5;=b\r\n",
                                     "5;a b\r\n",
                                     "5;a=\"b\r\n",
                                     "5;a=\"b\"c\r\n",
                                     "5;a\n",
                                     "5;a=b\n",
                                     "5;a=\"\n\"\r\n",
                                     "5;a=\"\r\n\"\r\n",
                                     "5;a=\"\\\n\"\r\n",
                                     "5,5\r\n",
                                     "00000000000000005\r\n",
                                     "5\r\nhelloX",
                                     "5\r\nhello\n",
                                     "5\r\nhello\r\r",
                                     "5\r\nhello!\r\n"}) {
    EXPECT_EQ(error_of(bad), Errc::MalformedChunk) << bad;
  }
}

TEST(BodyDecoder, RefusesTrailersThatAreNoFields) {
  for (const std::string_view bad : {"0\r\n\n", "0\r\n\rX", "0\r\n: a\r\n", "0\r\nA : b\r\n",
                                     "0\r\nA: b\n", "0\r\n A: b\r\n", "0\r\nA: \x01"}) {
    EXPECT_EQ(error_of(bad), Errc::MalformedTrailer) << bad;
  }
}

TEST(BodyDecoder, HoldsItsLimits) {
  EXPECT_EQ(error_of("4;" + std::string(5000, 'a')), Errc::ChunkExtensionTooLong);
  EXPECT_EQ(error_of("1;abc\r\nx\r\n1;abc\r\nx\r\n", {.extension_bytes = 7}),
            Errc::ChunkExtensionTooLong);
  EXPECT_EQ(error_of("3\r\nabc\r\n2\r\n", {.body_bytes = 4}), Errc::BodyTooLong);
  EXPECT_EQ(error_of("1\r\na\r\nffffffffffffffff\r\n"), Errc::BodyTooLong);
  std::string fields = "0\r\n";
  for (int i = 0; i < 65; ++i) fields += "A: b\r\n";
  EXPECT_EQ(error_of(fields + "\r\n"), Errc::TrailerTooLong);
  EXPECT_EQ(error_of("0\r\nA: " + std::string(8192, 'b') + "\r\n\r\n"), Errc::TrailerTooLong);
  const Framing five{.body = BodyKind::Length, .length_bytes = 5};
  EXPECT_EQ(decode(five, "hello", 1, {.body_bytes = 4}).error, Errc::BodyTooLong);
  EXPECT_EQ(decode(five, "hello", 1, {.body_bytes = 5}).status, BodyStatus::Done);
}

TEST(BodyDecoder, ABodyUntilCloseEndsWithTheInputAndHoldsItsLimit) {
  const Framing framing{.body = BodyKind::UntilClose};
  BodyDecoder decoder;
  ASSERT_TRUE(decoder.start(framing, {}));
  EXPECT_EQ(decoder.step("abc").data, "abc");
  EXPECT_FALSE(decoder.is_done());
  EXPECT_TRUE(decoder.end_of_input());
  EXPECT_TRUE(decoder.is_done());
  for (std::size_t piece = 1; piece < 6; ++piece) {
    const Decoded out = decode(framing, "abcde", piece, {.body_bytes = 4});
    EXPECT_EQ(out.content, "abcd");
    EXPECT_EQ(out.error, Errc::BodyTooLong);
  }
}

TEST(BodyDecoder, InputThatEndsTooEarlyIsTruncated) {
  BodyDecoder decoder;
  ASSERT_TRUE(decoder.start(chunked, {}));
  static_cast<void>(decoder.step("5\r\nhel"));
  EXPECT_EQ(decoder.end_of_input().error().code(), Errc::TruncatedBody);
}

TEST(BodyDecoder, OutcomeNeverDependsOnSplits) {
  static const std::string pieces[] = {
      "5\r\nhello\r\n", "1",     "0",     "\r\n",     "\r",  "\n", ";", "a", "=", "\"", "\\", " ",
      "f\r\n",          "x\r\n", "0\r\n", "A: b\r\n", "\x80"};
  std::mt19937 random(3);
  const BodyLimits limits{
      .body_bytes = 9, .extension_bytes = 6, .trailer_bytes = 12, .trailer_fields = 2};
  for (int round = 0; round < 20000; ++round) {
    std::string input;
    for (auto n = random() % 10; n > 0; --n) input += pieces[random() % std::size(pieces)];
    const Decoded whole = decode(chunked, input, 1000, limits);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}}) {
      const Decoded split = decode(chunked, input, piece, limits);
      ASSERT_EQ(split.status, whole.status) << input;
      ASSERT_EQ(split.error, whole.error) << input;
      ASSERT_EQ(split.content, whole.content) << input;
      ASSERT_EQ(split.trailers, whole.trailers) << input;
    }
  }
}

}  // namespace
}  // namespace skua::h1
