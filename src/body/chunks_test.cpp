// SPDX-License-Identifier: MIT
#include "body/chunks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::body {
namespace {

std::string taken(net::OutputQueue& output) {
  std::string text;
  while (!output.empty()) {
    text.append(output.front().data, output.front().size_bytes);
    output.consume(output.front().size_bytes);
  }
  return text;
}

TEST(Chunks, TellTheirSize) {
  net::OutputQueue::Blocks blocks(4);
  net::OutputQueue output(blocks);
  append_chunk(output, Body("hello"));
  EXPECT_EQ(taken(output), "5\r\nhello\r\n");
  const std::string large(70'000, 'x');
  append_chunk(output, Body(std::string(large)));
  EXPECT_EQ(taken(output), "11170\r\n" + large + "\r\n");
}

TEST(Chunks, EndWithTrailers) {
  net::OutputQueue::Blocks blocks(4);
  net::OutputQueue output(blocks);
  FieldLines trailers;
  append_last_chunk(output, trailers);
  EXPECT_EQ(taken(output), "0\r\n\r\n");
  trailers.add("Checksum", "1");
  append_last_chunk(output, trailers);
  EXPECT_EQ(taken(output), "0\r\nChecksum: 1\r\n\r\n");
}

}  // namespace
}  // namespace skua::body
