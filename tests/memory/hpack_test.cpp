// SPDX-License-Identifier: MIT
// Similar field blocks cost no allocation after the first few.
#include <gtest/gtest.h>

#include <string>

#include "h2/hpack_decoder.hpp"
#include "h2/hpack_encoder.hpp"
#include "support/allocations.hpp"

namespace skua::h2 {
namespace {

using http::FieldName;

TEST(HpackMemory, ANewPairOwnsNothing) {
  const std::uint64_t before = testing::allocations().count;
  HpackEncoder encoder;
  HpackDecoder decoder;
  std::string block;
  encoder.start(block);
  encoder.add_status(block, 200);
  encoder.add(block, FieldName::ContentLength, "content-length", "12");
  std::size_t taken = 0;
  decoder.start();
  const auto sink = [](const DecodedField& field) { return !field.is_malformed; };
  EXPECT_EQ(decoder.decode(block, true, taken, sink), HpackDecoder::Result::Fine);
  EXPECT_EQ(testing::allocations().count, before);
}

TEST(HpackMemory, ABlockAllocatesNothingAfterTheFirstFew) {
  HpackEncoder encoder;
  HpackDecoder decoder;
  std::string block;
  block.reserve(4096);
  const std::string long_path = "/" + std::string(200, 'p');
  std::uint64_t before = 0;
  for (int i = 0; i < 3000; ++i) {
    if (i == 1000) before = testing::allocations().count;
    block.clear();
    encoder.start(block);
    // Every block has new values; together they would fill the tables many times.
    const std::string digits = std::to_string(10'000 + i);
    encoder.add_status(block, 302);
    encoder.add_pseudo(block, Pseudo::Path, long_path);
    encoder.add(block, FieldName::Server, "server", "skua");
    encoder.add(block, FieldName::Date, "date", digits);
    encoder.add(block, FieldName::Other, "X-Trace-Of-This-Request", digits);
    encoder.add(block, FieldName::Vary, "vary", "accept-encoding");
    encoder.add(block, FieldName::ContentLength, "content-length", digits);
    std::size_t taken = 0;
    decoder.start();
    const auto sink = [](const DecodedField& field) { return !field.is_malformed; };
    ASSERT_EQ(decoder.decode(block, true, taken, sink), HpackDecoder::Result::Fine);
  }
  EXPECT_EQ(testing::allocations().count, before);
}

}  // namespace
}  // namespace skua::h2
