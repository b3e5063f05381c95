// SPDX-License-Identifier: MIT
#include "h1/body_encoder.hpp"

#include <gtest/gtest.h>

#include <string>

#include "h1/body_decoder.hpp"

namespace skua::h1 {
namespace {

std::string header(std::uint64_t size) {
  char out[chunk_header_bytes];
  return {out, write_chunk_header(size, out)};
}

TEST(BodyEncoder, WritesSizesInHexWithoutLeadingZeros) {
  EXPECT_EQ(header(1), "1\r\n");
  EXPECT_EQ(header(15), "f\r\n");
  EXPECT_EQ(header(16), "10\r\n");
  EXPECT_EQ(header(0xabcdef), "abcdef\r\n");
  EXPECT_EQ(header(~std::uint64_t{0}), "ffffffffffffffff\r\n");
}

TEST(BodyEncoder, WhatItWritesDecodesAgain) {
  const std::string trailers = "X-Sum: 7\r\n";
  std::string end(last_chunk_bytes(trailers), '\0');
  EXPECT_EQ(write_last_chunk(trailers, end.data()), end.data() + end.size());
  const std::string wire = header(5) + "hello" + std::string(chunk_end) + end;
  BodyDecoder decoder;
  ASSERT_TRUE(decoder.start({.body = BodyKind::Chunked}, {}));
  const BodyDecoder::Step step = decoder.step(wire);
  EXPECT_EQ(step.data, "hello");
  EXPECT_EQ(step.status, BodyStatus::Done);
  EXPECT_EQ(step.consumed_bytes, wire.size());
  EXPECT_EQ(decoder.trailers().value(*decoder.trailers().find("x-sum")), "7");
}

TEST(BodyEncoder, NoTrailersIsTheLastChunkAlone) {
  std::string end(last_chunk_bytes(""), '\0');
  write_last_chunk("", end.data());
  EXPECT_EQ(end, last_chunk);
}

}  // namespace
}  // namespace skua::h1
