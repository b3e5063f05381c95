// SPDX-License-Identifier: MIT
#include "ws/deflate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "skua/bytes.hpp"

namespace skua::ws {
namespace {

std::string bytes(std::initializer_list<unsigned> values) {
  std::string out;
  for (const unsigned value : values) out += static_cast<char>(value);
  return out;
}

/// Decompresses a payload, fed in pieces of `step` bytes. Returns the error message on failure.
std::string inflate(Inflater& inflater, std::string_view payload, std::size_t step = 1000,
                    std::size_t room_bytes = 100) {
  std::string out;
  std::vector<char> room(room_bytes);
  for (std::size_t at = 0; at < payload.size(); at += step) {
    std::string_view piece = payload.substr(at, step);
    for (bool is_done = false; !is_done;) {
      const auto did = inflater.inflate(piece, room);
      if (!did) return std::string(message(did.error().code()));
      piece.remove_prefix(did->taken);
      out.append(room.data(), did->made);
      is_done = did->is_done;
    }
  }
  for (bool is_done = false; !is_done;) {
    const auto did = inflater.finish(room);
    if (!did) return std::string(message(did.error().code()));
    out.append(room.data(), did->made);
    is_done = did->is_done;
  }
  return out;
}

std::string deflated(Deflater& deflater, std::string_view text) {
  std::string out;
  EXPECT_TRUE(deflater.deflate(text, out));
  return out;
}

std::string some_text(std::size_t size) {
  std::minstd_rand random(static_cast<unsigned>(size) + 1);
  std::string text;
  while (text.size() < size) text += "word" + std::to_string(random() % 300) + " ";
  text.resize(size);
  return text;
}

class Deflate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  }
};

TEST_F(Deflate, ExamplesOfTheRfc) {  // RFC 7692 §7.2.3
  Inflater one(15, false);
  EXPECT_EQ(inflate(one, bytes({0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00})), "Hello");
  EXPECT_EQ(inflate(one, bytes({0x00, 0x05, 0x00, 0xfa, 0xff, 'H', 'e', 'l', 'l', 'o', 0x00})),
            "Hello");
  EXPECT_EQ(inflate(one, bytes({0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00})), "Hello");
  EXPECT_EQ(inflate(one, bytes({0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9,
                                0x07, 0x00})),
            "Hello");
  EXPECT_EQ(inflate(one, bytes({0x00})), "");
  Inflater keeping(15, true);
  EXPECT_EQ(inflate(keeping, bytes({0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00})), "Hello");
  EXPECT_EQ(inflate(keeping, bytes({0xf2, 0x00, 0x11, 0x00, 0x00})), "Hello");
  Deflater deflater(15, false);
  EXPECT_EQ(deflated(deflater, "Hello"), bytes({0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00}));
  EXPECT_EQ(deflated(deflater, ""), bytes({0x00}));
}

TEST_F(Deflate, AFinalBlockKeepsTheContextAndNeedsNothingBehindIt) {
  Inflater keeping(15, true);
  EXPECT_EQ(inflate(keeping, bytes({0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00})), "Hello");
  EXPECT_EQ(inflate(keeping, bytes({0xf2, 0x00, 0x11, 0x00, 0x00})), "Hello");
}

TEST_F(Deflate, WhatGoesInComesOut) {
  for (const int bits : {8, 9, 12, 15}) {
    for (const bool keeps_context : {false, true}) {
      Deflater deflater(bits, keeps_context);
      Inflater inflater(bits, keeps_context);
      for (const std::size_t size : {0U, 1U, 5U, 300U, 0U, 5000U, 100'000U, 3U}) {
        const std::string text = some_text(size);
        const std::string payload = deflated(deflater, text);
        ASSERT_TRUE(inflate(inflater, payload, size % 2 == 0 ? 7 : 100'000) == text)
            << bits << " " << size;
      }
    }
  }
}

TEST_F(Deflate, AWindowOfEightBitsIsNotLeft) {
  // Tries every distance from 200 to 600: a match too far back cannot be decompressed with a window
  // of 256 bytes, at least not byte by byte.
  std::minstd_rand random(7);
  Deflater deflater(8, true, 9);
  Inflater inflater(8, true);
  for (std::size_t distance = 200; distance < 600; ++distance) {
    std::string text;
    for (std::size_t i = 0; i < distance; ++i) text += static_cast<char>(random() >> 7U);
    text += text;
    ASSERT_TRUE(inflate(inflater, deflated(deflater, text), 1, 1) == text) << distance;
  }
}

TEST_F(Deflate, ContextMakesTheSecondMessageSmall) {
  Deflater keeping(15, true);
  Deflater forgetting(15, false);
  const std::string text = some_text(2000);
  const std::size_t first = deflated(keeping, text).size();
  EXPECT_LT(deflated(keeping, text).size(), first / 10);
  EXPECT_EQ(deflated(forgetting, text), deflated(forgetting, text));
}

TEST_F(Deflate, MemoryIsGivenBackWithTheMessage) {
  InflatePool pool;
  Inflater forgetting(15, false, &pool);
  Inflater keeping(15, true, &pool);
  EXPECT_EQ(forgetting.memory_bytes(), 0U);
  std::array<char, 100> room;
  ASSERT_TRUE(forgetting.inflate(bytes({0xf2, 0x48}), room));
  EXPECT_GE(forgetting.memory_bytes(), 32_KiB);
  // While one is in the middle of a message, another decompresses with its own memory.
  EXPECT_EQ(inflate(keeping, bytes({0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00})), "Hello");
  EXPECT_EQ(inflate(forgetting, bytes({0xcd, 0xc9, 0xc9, 0x07, 0x00})), "ello");
  EXPECT_EQ(forgetting.memory_bytes(), 0U);
  EXPECT_NE(keeping.memory_bytes(), 0U);
  keeping.abandon();
  EXPECT_EQ(keeping.memory_bytes(), 0U);
}

TEST_F(Deflate, MemoryOfThePoolForgetsAndTakesAnyWindow) {
  InflatePool pool(1);
  for (const int bits : {15, 9, 8, 15}) {
    Deflater deflater(bits, false);
    const std::string text = some_text(3000);
    const std::string payload = deflated(deflater, text);
    Inflater inflater(bits, false, &pool);
    EXPECT_EQ(inflate(inflater, payload), text);
    EXPECT_EQ(inflate(inflater, "rubbish"), "the content coding is malformed");
    inflater.abandon();
    // Refers back to text that is gone.
    EXPECT_EQ(inflate(inflater, bytes({0xf2, 0x00, 0x11, 0x00, 0x00})),
              "the content coding is malformed");
  }
}

TEST_F(Deflate, MalformedIsSaidAgain) {
  for (const std::string& payload :
       {bytes({0xff}), bytes({0x07}), bytes({0x00, 0x05, 0x00, 0x00, 0x00}), bytes({0xf2, 0x48}),
        bytes({0x00, 0x06, 0x00, 0xf9, 0xff, 'H'})}) {
    Inflater inflater(15, true);
    EXPECT_EQ(inflate(inflater, payload), "the content coding is malformed");
    EXPECT_EQ(inflate(inflater, bytes({0x00})), "the content coding is malformed");
  }
}

TEST_F(Deflate, ManyFinalBlocksCostLittle) {
  std::string payload;
  for (int i = 0; i < 200'000; ++i) payload += bytes({0x03, 0x00});  // final, empty
  Inflater inflater(15, false);
  EXPECT_EQ(inflate(inflater, payload + '\0', 100'000), "");
}

TEST_F(Deflate, IsAppendedToWhatIsThere) {
  Deflater deflater(15, false);
  std::string out = "head";
  ASSERT_TRUE(deflater.deflate("Hello", out));
  EXPECT_EQ(out, "head" + bytes({0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00}));
  EXPECT_GT(deflater.memory_bytes(), 100_KiB);
}

}  // namespace
}  // namespace skua::ws
