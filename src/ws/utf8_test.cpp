// SPDX-License-Identifier: MIT
#include "ws/utf8.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace skua::ws {
namespace {

std::string encode(unsigned code_point) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80U | (code_point >> shift & 0x3fU));
  };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xc0U | code_point >> 6U), tail(0)};
  if (code_point < 0x10000) return {static_cast<char>(0xe0U | code_point >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xf0U | code_point >> 18U), tail(12), tail(6), tail(0)};
}

bool is_valid(std::string_view text) {
  Utf8Validator validator;
  return validator.feed(text) && validator.is_complete();
}

// Feeds a text byte by byte and returns the index of the first byte that is rejected.
std::optional<std::size_t> refused_at(std::string_view text) {
  Utf8Validator validator;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!validator.feed(text.substr(i, 1))) return i;
  }
  return std::nullopt;
}

TEST(Utf8, EveryCodePointButSurrogates) {
  for (unsigned c = 0; c <= 0x10ffff; ++c) {
    const bool is_surrogate = c >= 0xd800 && c <= 0xdfff;
    ASSERT_EQ(is_valid(encode(c)), !is_surrogate) << c;
  }
  EXPECT_FALSE(is_valid(encode(0x110000)));
}

TEST(Utf8, EveryPairOfBytesThatBegins) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const bool is_continuation = b >= 0x80 && b <= 0xbf;
      bool wanted = b < 0x80 || (b >= 0xc2 && b <= 0xf4);
      if (a >= 0x80) wanted = a >= 0xc2 && a <= 0xf4 && is_continuation;
      if ((a == 0xe0 && b < 0xa0) || (a == 0xf0 && b < 0x90)) wanted = false;
      if ((a == 0xed && b > 0x9f) || (a == 0xf4 && b > 0x8f)) wanted = false;
      const std::string text{static_cast<char>(a), static_cast<char>(b)};
      Utf8Validator validator;
      EXPECT_EQ(validator.feed(text), wanted) << a << " " << b;
      EXPECT_EQ(refused_at(text).has_value(), !wanted);
    }
  }
}

TEST(Utf8, FailsAtTheFirstByteThatCannotBeRight) {
  EXPECT_EQ(refused_at("\xce\xba\xe1\xbd\xb9\xf4\x90\x80\x80"), 6U);  // Autobahn 6.4
  EXPECT_EQ(refused_at("\xed\xa0\x80"), 1U);
  EXPECT_EQ(refused_at("\xc0\xaf"), 0U);
  EXPECT_EQ(refused_at("\xe0\x80\xaf"), 1U);
  EXPECT_EQ(refused_at("a\x80"), 1U);
  EXPECT_EQ(refused_at("\xf5"), 0U);
  EXPECT_EQ(refused_at("\xe2\x82"
                       "a"),
            2U);
}

TEST(Utf8, AnySplitOfMixedTextIsTheSame) {
  const std::string text = std::string(70, 'x') + "\xc3\xa4" + std::string(9, 'y') +
                           "\xe2\x82\xac\xf0\x9f\x90\xa6" + std::string(33, 'z') + "\xc3\xb6";
  EXPECT_TRUE(is_valid(text));
  for (std::size_t at = 0; at <= text.size(); ++at) {
    Utf8Validator validator;
    EXPECT_TRUE(validator.feed(std::string(text.substr(0, at))));
    EXPECT_TRUE(validator.feed(std::string(text.substr(at))));
    EXPECT_TRUE(validator.is_complete());
  }
}

TEST(Utf8, ABadByteIsSeenAtEveryPlaceInLongText) {
  for (std::size_t size = 1; size < 100; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\xff';
      EXPECT_FALSE(is_valid(text)) << size << " " << at;
    }
  }
}

TEST(Utf8, UnfinishedIsNotWrongYet) {
  Utf8Validator validator;
  EXPECT_TRUE(validator.feed("\xf0\x9f\x90"));
  EXPECT_FALSE(validator.is_complete());
  EXPECT_FALSE(validator.feed("a"));
  validator.reset();
  EXPECT_TRUE(validator.is_complete());
  EXPECT_TRUE(validator.feed("a"));
}

}  // namespace
}  // namespace skua::ws
