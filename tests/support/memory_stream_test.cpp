// SPDX-License-Identifier: MIT
#include "support/memory_stream.hpp"

#include <array>
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

#include "support/recording_sink.hpp"

namespace skua::net {
namespace {

class MemoryStreamTest : public testing::Test {
 protected:
  MemoryStreamTest() { stream.listen(sink); }
  RecordingSink sink;
  MemoryStream stream;
};

TEST_F(MemoryStreamTest, DeliversPiecesOnlyWhenPumpedAndWanted) {
  stream.feed("abc");
  stream.feed("defgh", 2);
  EXPECT_EQ(stream.pump(), 0U);
  stream.start_receive();
  EXPECT_EQ(sink.received, "");
  EXPECT_TRUE(stream.pump_once());
  EXPECT_EQ(sink.received, "abc|");
  stream.stop_receive();
  EXPECT_FALSE(stream.pump_once());
  stream.start_receive();
  EXPECT_EQ(stream.pump(), 3U);
  EXPECT_EQ(sink.received, "abc|de|fg|h|");
}

TEST_F(MemoryStreamTest, EndsAfterTheLastPiece) {
  stream.feed("abc");
  stream.finish();
  stream.start_receive();
  stream.pump();
  EXPECT_EQ(sink.received, "abc|");
  EXPECT_EQ(sink.receive_end, Errc::None);
  EXPECT_EQ(stream.pump(), 0U);
}

TEST_F(MemoryStreamTest, CanBeReset) {
  stream.finish(Errc::Reset);
  stream.start_receive();
  stream.pump();
  EXPECT_EQ(sink.receive_end, Errc::Reset);
}

TEST_F(MemoryStreamTest, TakesEverythingUnlessToldOtherwise) {
  const std::array<Slice, 2> slices{Slice{"ab", 2}, Slice{"cd", 2}};
  EXPECT_EQ(stream.send(slices), 4U);
  EXPECT_EQ(stream.output(), "abcd");
  EXPECT_EQ(stream.send_count(), 1U);
  EXPECT_EQ(stream.pump(), 0U);
}

TEST_F(MemoryStreamTest, TakesSlowlyLikeEpoll) {
  stream.take_at_most(3);
  EXPECT_EQ(send_text(stream, "abcdefg"), 3U);
  EXPECT_EQ(stream.pump(), 1U);
  EXPECT_EQ(sink.sent, 0U);
  EXPECT_EQ(send_text(stream, "defg"), 3U);
  EXPECT_EQ(stream.output(), "abcdef");
}

TEST_F(MemoryStreamTest, TakesSlowlyLikeIoUring) {
  stream.take_at_most(3, MemoryStream::SendStyle::Completion);
  EXPECT_EQ(send_text(stream, "abcdefg"), 3U);
  EXPECT_EQ(stream.pump(), 1U);
  EXPECT_EQ(sink.sent, 3U);
  EXPECT_EQ(send_text(stream, "g"), 1U);
  EXPECT_EQ(stream.output(), "abcdefg");
}

TEST_F(MemoryStreamTest, TakesNothingWhileThePeerDoesNotRead) {
  stream.take_at_most(0);
  EXPECT_EQ(send_text(stream, "abc"), 0U);
  EXPECT_EQ(stream.pump(), 0U);
  stream.take_at_most(10);
  EXPECT_EQ(stream.pump(), 1U);
  EXPECT_EQ(sink.sent_calls, 1);
}

TEST_F(MemoryStreamTest, FailsASendLater) {
  stream.fail_send(Errc::Closed);
  EXPECT_EQ(send_text(stream, "abc"), 0U);
  EXPECT_FALSE(sink.send_failure.has_value());
  stream.pump();
  EXPECT_EQ(sink.send_failure, Errc::Closed);
}

TEST_F(MemoryStreamTest, SendsARangeOfAFileAndNoticesWhenItIsShort) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  std::fputs("0123456789", file.get());
  std::fflush(file.get());
  EXPECT_EQ(stream.send_file(::fileno(file.get()), 2, 5), 5U);
  EXPECT_EQ(stream.take_output(), "23456");
  stream.send_file(::fileno(file.get()), 8, 5);
  stream.pump();
  EXPECT_EQ(sink.send_failure, Errc::TruncatedBody);
}

TEST_F(MemoryStreamTest, ClosesInThePumpAndSaysNothingElse) {
  stream.take_at_most(1);
  stream.feed("abc");
  stream.start_receive();
  send_text(stream, "abc");
  stream.close();
  EXPECT_EQ(sink.closed, 0);
  EXPECT_EQ(stream.pump(), 1U);
  EXPECT_EQ(sink.closed, 1);
  EXPECT_EQ(sink.sent_calls, 0);
  EXPECT_EQ(sink.received, "");
}

TEST(MemoryStream, MayBeDestroyedInsideOnClosed) {
  struct Owner final : RecordingSink {
    void on_closed() override { stream.reset(); }
    std::unique_ptr<MemoryStream> stream = std::make_unique<MemoryStream>();
  } owner;
  bool is_destroyed = false;
  owner.stream->listen(owner);
  owner.stream->tell_destruction(is_destroyed);
  owner.stream->close();
  owner.stream->pump();
  EXPECT_TRUE(is_destroyed);
  EXPECT_EQ(owner.stream, nullptr);
}

}  // namespace
}  // namespace skua::net
