// SPDX-License-Identifier: MIT
#include "h2/short_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::h2 {
namespace {

TEST(ShortText, OnlyLettersBecomeLowerCase) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (unsigned octet = 0; octet < 256; ++octet) {
      const std::string text(size, static_cast<char>(octet));
      std::string lower(size + 1, '?');
      short_text::to_lower(text, lower.data());
      ASSERT_EQ(lower, std::string(size, ascii::to_lower(text[0])) + '?') << octet;
    }
  }
  std::string mixed = "Content-SECURITY-Policy_[@]{`}^~";
  short_text::to_lower(mixed, mixed.data());
  EXPECT_EQ(mixed, "content-security-policy_[@]{`}^~");
}

TEST(ShortText, OneOctetMakesADifference) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string text(size, 'a');
    std::string other = text;
    ASSERT_TRUE(short_text::is_same(text, other));
    for (char& c : other) {
      c = 'b';
      ASSERT_FALSE(short_text::is_same(text, other)) << size;
      c = 'a';
    }
    other += 'a';
    ASSERT_FALSE(short_text::is_same(text, other)) << size;
  }
}

}  // namespace
}  // namespace skua::h2
