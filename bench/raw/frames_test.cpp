// SPDX-License-Identifier: MIT

#include "frames.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::raw {
namespace {

constexpr std::string_view key = "\x12\x34\x56\x78";

TEST(Frames, TheExampleOfTheRfcIsMaskedAsThere) {
  // RFC 6455 §5.7: "Hello", masked and unmasked.
  EXPECT_EQ(client_frame(true, "Hello", "\x37\xfa\x21\x3d"),
            std::string("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11));
  EXPECT_EQ(server_frame(true, "Hello"), "\x81\x05Hello");
}

TEST(Frames, AnAnswerIsTheSameFrameWithoutItsMask) {
  for (const std::size_t size : {0, 1, 7, 8, 125, 126, 127, 65535, 65536, 100000}) {
    std::string payload(size, 'x');
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 7);
    std::string frame = client_frame(false, payload, key);
    ASSERT_EQ(needed_bytes(frame), frame.size()) << size;
    EXPECT_EQ(answer_in_place(frame.data(), frame.size()), server_frame(false, payload)) << size;
  }
}

TEST(Frames, APieceSaysHowMuchIsNeededUntilTheSizeIsKnown) {
  for (const std::size_t size : {5, 200, 70000}) {
    const std::string frame = client_frame(false, std::string(size, 'x'), key);
    std::size_t have = 0;
    for (int step = 0; have != frame.size(); ++step) {
      ASSERT_LT(step, 4);
      have = needed_bytes(std::string_view(frame).substr(0, have));
      ASSERT_LE(have, frame.size());
    }
  }
}

TEST(Frames, WhatIsNotMaskedOrTooLargeIsRefused) {
  EXPECT_EQ(needed_bytes(server_frame(true, "Hello")), 0U);
  EXPECT_EQ(needed_bytes(std::string_view("\x82\xff\x00\x00\x00\x00\x01\x00\x00\x01", 10)), 0U);
  EXPECT_EQ(needed_bytes(std::string_view("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10)), 0U);
}

}  // namespace
}  // namespace bench::raw
