// SPDX-License-Identifier: MIT
#include "h2/peer_streams.hpp"

#include <gtest/gtest.h>

namespace skua::h2 {
namespace {

class PeerStreamsTest : public ::testing::Test {
 protected:
  std::string_view take(FrameType type, std::uint32_t id, std::uint8_t flags = 0,
                        std::uint32_t first = 0) {
    return name(streams_.take(
        {.length_bytes = 5, .stream_id = id, .type = type, .flags = flags, .first = first}));
  }
  PeerStreams streams_;
};

TEST_F(PeerStreamsTest, AStreamGoesOnUntilThePeerEndsIt) {
  EXPECT_EQ(take(FrameType::Headers, 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Data, 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Data, 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Headers, 1, frame_flags::end_stream), "NO_ERROR") << "trailers";
  EXPECT_EQ(take(FrameType::Data, 1), "STREAM_CLOSED");
  EXPECT_EQ(take(FrameType::Headers, 1), "STREAM_CLOSED");
}

TEST_F(PeerStreamsTest, ARequestWithoutContentIsOver) {
  EXPECT_EQ(take(FrameType::Headers, 1, frame_flags::end_stream), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Data, 1), "STREAM_CLOSED");
}

TEST_F(PeerStreamsTest, WhatThePeerHasResetIsOver) {
  EXPECT_EQ(take(FrameType::Headers, 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::RstStream, 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::RstStream, 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Data, 1), "STREAM_CLOSED");
  EXPECT_EQ(take(FrameType::Headers, 1), "STREAM_CLOSED");
}

TEST_F(PeerStreamsTest, AStreamThatWasSkippedCannotBeBegun) {
  EXPECT_EQ(take(FrameType::Headers, 5, frame_flags::end_stream), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Headers, 3), "PROTOCOL_ERROR");
}

TEST_F(PeerStreamsTest, WhatNghttp2SeesIsLeftToIt) {
  EXPECT_EQ(take(FrameType::Data, 7), "NO_ERROR") << "an idle stream";
  EXPECT_EQ(take(FrameType::Headers, 2), "NO_ERROR") << "a stream of the server";
  EXPECT_EQ(take(FrameType::Data, 2), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Settings, 0), "NO_ERROR");
}

TEST_F(PeerStreamsTest, PrioritiesThatCannotBe) {
  EXPECT_EQ(take(FrameType::Priority, 0), "PROTOCOL_ERROR");
  EXPECT_EQ(take(FrameType::Priority, 3, 0, 3), "PROTOCOL_ERROR");
  EXPECT_EQ(take(FrameType::Priority, 3, 0, 1), "NO_ERROR");
}

TEST_F(PeerStreamsTest, MemoryIsBounded) {
  for (std::uint32_t id = 1; id <= 2 * 5000; id += 2) {
    ASSERT_EQ(take(FrameType::Headers, id), "NO_ERROR");
  }
  EXPECT_EQ(take(FrameType::Data, 9999), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Data, 2 * 4000 + 1), "NO_ERROR");
  EXPECT_EQ(take(FrameType::Data, 1), "STREAM_CLOSED") << "it was given up long ago";
}

}  // namespace
}  // namespace skua::h2
