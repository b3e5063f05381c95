// SPDX-License-Identifier: MIT
#include "ws/message_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "skua/bytes.hpp"
#include "ws/close_code.hpp"
#include "ws/deflate.hpp"
#include "ws/frame.hpp"

namespace skua::ws {
namespace {

using Event = MessageReader::Event;

struct Flags {
  bool is_final = true;
  bool is_compressed = false;
  bool is_masked = false;
};

std::string frame(Opcode opcode, std::string payload, Flags flags = {}) {
  const FrameHeader header{.payload_bytes = payload.size(),
                           .opcode = opcode,
                           .is_final = flags.is_final,
                           .is_compressed = flags.is_compressed,
                           .is_masked = flags.is_masked,
                           .key = {'k', '\xe5', '\0', 'y'}};
  std::string out(longest_header_bytes, '\0');
  out.resize(static_cast<std::size_t>(write_frame_header(header, out.data()) - out.data()));
  if (flags.is_masked) mask(payload, header.key, 0);
  return out + payload;
}

std::string masked(Opcode opcode, const std::string& payload, bool is_final = true) {
  return frame(opcode, payload, {.is_final = is_final, .is_masked = true});
}

constexpr Flags more{.is_final = false};

TEST(MessageReader, ShowsAWholeMessageWhereItLies) {
  MessageReader reader(Role::Server, 1_KiB);
  std::string bytes = masked(Opcode::Text, std::string(300, 'a')) + masked(Opcode::Binary, "\xff");
  std::span<char> input(bytes);
  ASSERT_EQ(reader.next(input), Event::Message);
  EXPECT_EQ(reader.payload(), std::string(300, 'a'));
  EXPECT_EQ(reader.payload().data(), bytes.data() + 8);
  EXPECT_EQ(reader.type(), MessageType::Text);
  ASSERT_EQ(reader.next(input), Event::Message);
  EXPECT_EQ(reader.payload(), "\xff");
  EXPECT_EQ(reader.type(), MessageType::Binary);
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(reader.next(input), Event::NeedMore);
  EXPECT_EQ(reader.memory_bytes(), 0U);
}

TEST(MessageReader, AHeaderInPiecesStillMakesNoCopy) {
  MessageReader reader(Role::Server, 1_KiB);
  std::string bytes = masked(Opcode::Text, "hello");
  std::span<char> head = std::span(bytes).first(5);
  EXPECT_EQ(reader.next(head), Event::NeedMore);
  EXPECT_TRUE(head.empty());
  std::span<char> rest = std::span(bytes).subspan(5);
  ASSERT_EQ(reader.next(rest), Event::Message);
  EXPECT_EQ(reader.payload(), "hello");
  EXPECT_EQ(reader.payload().data(), bytes.data() + 6);
}

TEST(MessageReader, HoldsNoMemoryBetweenMessages) {
  MessageReader reader(Role::Client, 1_MiB);
  const std::string bytes = frame(Opcode::Binary, std::string(200'000, 'b'));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t at = 0; at < bytes.size(); at += 1000) {
      std::string piece = bytes.substr(at, 1000);
      std::span<char> input(piece);
      const Event event = reader.next(input);
      const bool is_last = at + 1000 >= bytes.size();
      ASSERT_EQ(event, is_last ? Event::Message : Event::NeedMore);
      // At most twice the bytes that arrived.
      EXPECT_LE(reader.memory_bytes(), 2 * (at + 1000) + 100);
      if (is_last) {
        EXPECT_EQ(reader.payload(), std::string(200'000, 'b'));
      }
    }
    std::span<char> nothing;
    EXPECT_EQ(reader.next(nothing), Event::NeedMore);
    EXPECT_EQ(reader.memory_bytes(), 0U);
  }
}

// Feeds the bytes in pieces and returns the last event.
Event feed(MessageReader& reader, std::string_view bytes, std::size_t piece_bytes) {
  Event event = Event::NeedMore;
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    std::string piece(bytes.substr(at, piece_bytes));
    std::span<char> input(piece);
    event = reader.next(input);
    if (event == Event::Message) {
      EXPECT_TRUE(input.empty());
    }
  }
  return event;
}

TEST(MessageReader, CollectsInTheMemoryOfTheLastWhoDid) {
  std::string spare;
  MessageReader one(Role::Client, 1_MiB);
  MessageReader other(Role::Client, 1_MiB);
  one.use_spare(spare);
  other.use_spare(spare);
  std::span<char> nothing;
  ASSERT_EQ(feed(one, frame(Opcode::Binary, std::string(65'536, 'b')), 8192), Event::Message);
  const char* const memory = one.payload().data();
  EXPECT_EQ(one.next(nothing), Event::NeedMore);
  EXPECT_EQ(one.memory_bytes(), 0U);
  EXPECT_EQ(spare.data(), memory);
  const std::string second = frame(Opcode::Binary, std::string(65'536, 'c'));
  ASSERT_EQ(feed(other, second, 8192), Event::Message);
  EXPECT_EQ(other.payload().data(), memory);
  EXPECT_EQ(other.payload(), std::string(65'536, 'c'));
  // Meanwhile, other readers cannot use it.
  ASSERT_EQ(feed(one, second, 8192), Event::Message);
  EXPECT_NE(one.payload().data(), memory);
  EXPECT_EQ(one.payload(), other.payload());
  for (MessageReader* reader : {&one, &other}) {
    EXPECT_EQ(reader->next(nothing), Event::NeedMore);
    EXPECT_EQ(reader->memory_bytes(), 0U);
  }
}

TEST(MessageReader, AShortPieceDoesNotHoldTheMemoryOfALongMessage) {
  std::string spare;
  spare.reserve(65'536);
  MessageReader reader(Role::Client, 1_MiB);
  reader.use_spare(spare);
  const std::string bytes = frame(Opcode::Binary, std::string(65'536, 'b'));
  EXPECT_EQ(feed(reader, bytes.substr(0, 500), 500), Event::NeedMore);
  EXPECT_LE(reader.memory_bytes(), 2U * 500);
  // More data may use it.
  const char* const memory = spare.data();
  ASSERT_EQ(feed(reader, bytes.substr(500), 5000), Event::Message);
  EXPECT_EQ(reader.payload().data(), memory);
  EXPECT_EQ(reader.payload(), std::string(65'536, 'b'));
}

TEST(MessageReader, VeryLongMessagesLeaveNoMemoryBehind) {
  std::string spare;
  MessageReader reader(Role::Client, 1_MiB);
  reader.use_spare(spare);
  ASSERT_EQ(feed(reader, frame(Opcode::Binary, std::string(500'000, 'b')), 50'000), Event::Message);
  std::span<char> nothing;
  EXPECT_EQ(reader.next(nothing), Event::NeedMore);
  EXPECT_EQ(reader.memory_bytes(), 0U);
  EXPECT_LE(spare.capacity(), 128_KiB);
}

TEST(MessageReader, TakesNoMemoryOnTheWordOfALength) {
  MessageReader reader(Role::Client, 1_GiB);
  std::string bytes = frame(Opcode::Binary, std::string(100'000, 'b')).substr(0, 60);
  std::span<char> input(bytes);
  EXPECT_EQ(reader.next(input), Event::NeedMore);
  EXPECT_TRUE(reader.is_in_message());
  EXPECT_LE(reader.memory_bytes(), 200U);
}

TEST(MessageReader, FailsAtOnceWhereTheAnnouncedLengthIsTooLong) {
  MessageReader reader(Role::Client, 100);
  std::string bytes = frame(Opcode::Binary, std::string(60, 'b'), more) +
                      frame(Opcode::Continuation, std::string(41, 'b')).substr(0, 2);
  std::span<char> input(bytes);
  EXPECT_EQ(reader.next(input), Event::Failed);
  EXPECT_EQ(reader.reason().code, CloseCode::MessageTooBig);
  EXPECT_EQ(reader.next(input), Event::Failed);
}

TEST(MessageReader, ControlFramesMayComeBetweenFragments) {
  MessageReader reader(Role::Client, 100);
  std::string bytes = frame(Opcode::Text, "He", more) + frame(Opcode::Ping, "now") +
                      frame(Opcode::Continuation, "", more) + frame(Opcode::Pong, "") +
                      frame(Opcode::Continuation, "llo");
  std::span<char> input(bytes);
  ASSERT_EQ(reader.next(input), Event::Ping);
  EXPECT_EQ(reader.payload(), "now");
  EXPECT_TRUE(reader.is_in_message());
  ASSERT_EQ(reader.next(input), Event::Pong);
  ASSERT_EQ(reader.next(input), Event::Message);
  EXPECT_EQ(reader.payload(), "Hello");
  EXPECT_FALSE(reader.is_in_message());
}

TEST(MessageReader, AFloodOfEmptyFragmentsTakesNoMemory) {
  MessageReader reader(Role::Client, 100);
  std::string first = frame(Opcode::Text, "", more);
  std::span<char> input(first);
  EXPECT_EQ(reader.next(input), Event::NeedMore);
  const std::string empty = frame(Opcode::Continuation, "", more);
  std::string flood;
  for (int i = 0; i < 100'000; ++i) flood += empty;
  input = flood;
  EXPECT_EQ(reader.next(input), Event::NeedMore);
  EXPECT_EQ(reader.memory_bytes(), 0U);
  std::string last = frame(Opcode::Continuation, "a");
  input = last;
  ASSERT_EQ(reader.next(input), Event::Message);
  EXPECT_EQ(reader.payload(), "a");
}

TEST(MessageReader, TextIsCheckedBeforeItsFrameIsWhole) {
  MessageReader reader(Role::Client, 100);
  std::string bytes = frame(Opcode::Text, "ab\xff" + std::string(60, 'c')).substr(0, 5);
  std::span<char> input(bytes);
  EXPECT_EQ(reader.next(input), Event::Failed);
  EXPECT_EQ(reader.reason().code, CloseCode::InvalidData);
}

TEST(MessageReader, SaysWhatThePeerSaidAtItsClose) {
  MessageReader reader(Role::Server, 100);
  std::string bytes = masked(Opcode::Close, write_close(CloseCode::GoingAway, "bye")) + "rubbish";
  std::span<char> input(bytes);
  EXPECT_EQ(reader.reason().code, CloseCode::NoStatus);
  ASSERT_EQ(reader.next(input), Event::Close);
  EXPECT_EQ(reader.reason().code, CloseCode::GoingAway);
  EXPECT_EQ(reader.reason().text, "bye");
  EXPECT_EQ(reader.next(input), Event::NeedMore);
  EXPECT_TRUE(input.empty());
  EXPECT_EQ(reader.reason().text, "bye");
}

TEST(MessageReader, ACloseWithinAMessageGivesItsMemoryBack) {
  MessageReader reader(Role::Client, 10'000);
  std::string bytes = frame(Opcode::Text, std::string(5000, 'a'), more) + frame(Opcode::Close, "");
  std::span<char> input(bytes);
  ASSERT_EQ(reader.next(input), Event::Close);
  EXPECT_LE(reader.memory_bytes(), 1000U);
}

TEST(MessageReader, AMessageIsForgottenWhileAPingIsAwaited) {
  MessageReader reader(Role::Client, 10'000);
  std::string bytes = frame(Opcode::Text, std::string(5000, 'a'), more) +
                      frame(Opcode::Continuation, "b") + frame(Opcode::Ping, "ping").substr(0, 3);
  std::span<char> input(bytes);
  ASSERT_EQ(reader.next(input), Event::Message);
  EXPECT_EQ(reader.next(input), Event::NeedMore);
  EXPECT_LE(reader.memory_bytes(), 1000U);
}

TEST(MessageReader, FramesMaskedTheWrongWayFailAtTheirSecondByte) {
  for (const Role role : {Role::Server, Role::Client}) {
    MessageReader reader(role, 100);
    std::string bytes =
        frame(Opcode::Text, "hello", {.is_masked = role == Role::Client}).substr(0, 2);
    std::span<char> input(bytes);
    EXPECT_EQ(reader.next(input), Event::Failed);
    EXPECT_EQ(reader.reason().code, CloseCode::ProtocolError);
  }
}

TEST(MessageReader, IsSmall) { EXPECT_LE(sizeof(MessageReader), 112U); }

}  // namespace
}  // namespace skua::ws
