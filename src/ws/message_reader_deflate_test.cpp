// SPDX-License-Identifier: MIT
// Tests the reader with hostile and unusual compressed messages.
#include <gtest/gtest.h>

#include <string>

#include "skua/bytes.hpp"
#include "ws/deflate.hpp"
#include "ws/message_reader.hpp"

namespace skua::ws {
namespace {

using Event = MessageReader::Event;

std::string compressed_frame(Opcode opcode, std::string_view payload, bool is_final = true) {
  const FrameHeader header{.payload_bytes = payload.size(),
                           .opcode = opcode,
                           .is_final = is_final,
                           .is_compressed = opcode != Opcode::Continuation};
  std::array<char, longest_header_bytes> room;
  std::string out(room.data(), write_frame_header(header, room.data()));
  return out.append(payload);
}

std::string deflated(std::string_view text) {
  std::string out;
  Deflater deflater(15, false);
  EXPECT_TRUE(deflater.deflate(text, out));
  return out;
}

class CompressedMessages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  }
};

TEST_F(CompressedMessages, AGibibyteOfZerosFailsAtTheLimit) {
  const std::string mebibyte = deflated(std::string(1_MiB, '\0')) + std::string("\0\0\xff\xff", 4);
  std::string payload;
  for (int i = 0; i < 1024; ++i) payload += mebibyte;
  std::string bytes = compressed_frame(Opcode::Binary, payload);
  Inflater inflater(15, false);
  MessageReader reader(Role::Client, 1_MiB);
  reader.use(&inflater);
  std::size_t taken = 0;
  Event event = Event::NeedMore;
  while (event == Event::NeedMore) {
    ASSERT_LT(taken, bytes.size());
    std::span<char> input = std::span(bytes).subspan(taken, 100);
    event = reader.next(input);
    EXPECT_LE(reader.memory_bytes(), 2_MiB + 1_KiB);
    taken += 100;
  }
  EXPECT_EQ(event, Event::Failed);
  EXPECT_EQ(reader.reason().code, CloseCode::MessageTooBig);
  EXPECT_LE(taken, 2 * mebibyte.size());
  EXPECT_LE(reader.memory_bytes(), 1_KiB);
  EXPECT_EQ(inflater.memory_bytes(), 0U);
}

TEST_F(CompressedMessages, InPiecesWithManyFragments) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 1000) + "\xc3\xa4";
  const std::string payload = deflated(text);
  const std::size_t third = payload.size() / 3;
  const std::string bytes =
      compressed_frame(Opcode::Text, payload.substr(0, third), false) +
      compressed_frame(Opcode::Continuation, payload.substr(third, third), false) +
      compressed_frame(Opcode::Continuation, payload.substr(2 * third));
  InflatePool pool;
  for (const std::size_t step : {1U, 7U, 1000U, 1'000'000U}) {
    Inflater inflater(15, false, &pool);
    MessageReader reader(Role::Client, 1_MiB);
    reader.use(&inflater);
    Event event = Event::NeedMore;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      std::string piece = bytes.substr(at, step);
      std::span<char> input(piece);
      ASSERT_EQ(event, Event::NeedMore);
      event = reader.next(input);
    }
    ASSERT_EQ(event, Event::Message);
    EXPECT_TRUE(reader.payload() == text);
    EXPECT_EQ(inflater.memory_bytes(), 0U);
    std::span<char> nothing;
    EXPECT_EQ(reader.next(nothing), Event::NeedMore);
    EXPECT_EQ(reader.memory_bytes(), 0U);
  }
}

TEST_F(CompressedMessages, EmptyBlocksInflateToNothing) {
  std::string payload;
  for (int i = 0; i < 200'000; ++i) payload += std::string("\0\0\0\xff\xff", 5);
  std::string bytes = compressed_frame(Opcode::Text, payload + '\0');
  Inflater inflater(15, false);
  MessageReader reader(Role::Client, 10);
  reader.use(&inflater);
  std::span<char> input(bytes);
  EXPECT_EQ(reader.next(input), Event::Message);
  EXPECT_EQ(reader.payload(), "");
}

}  // namespace
}  // namespace skua::ws
