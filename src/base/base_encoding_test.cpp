// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <utility>

#include "base/base_encoding.hpp"

namespace skua::base64 {
namespace {

TEST(Base64, WritesAndReadsTheExamplesOfTheStandard) {
  // RFC 4648 §10
  for (const auto& [bytes, text] : {std::pair<std::string_view, std::string_view>{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(encode(bytes), text);
    EXPECT_EQ(decode(text), bytes);
  }
}

TEST(Base64, TheUrlAlphabetHasNoPadding) {
  EXPECT_EQ(encode("\xfb\xff\xfe"), "+//+");
  EXPECT_EQ(encode("\xfb\xff\xfe", Alphabet::Url), "-__-");
  EXPECT_EQ(encode("fo", Alphabet::Url), "Zm8");
  EXPECT_EQ(decode("Zm8", Alphabet::Url), "fo");
  EXPECT_FALSE(decode("Zm8=", Alphabet::Url));
  EXPECT_FALSE(decode("+//+", Alphabet::Url));
  EXPECT_FALSE(decode("-__-"));
}

TEST(Base64, EveryByteComesBack) {
  std::string all;
  for (unsigned c = 0; c < 256; ++c) {
    all += static_cast<char>(c);
    EXPECT_EQ(decode(encode(all)), all);
    EXPECT_EQ(decode(encode(all, Alphabet::Url), Alphabet::Url), all);
  }
}

TEST(Base64, ASecondSpellingIsRefused) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Zg===", "Z===", "=", "====", "Zh==", "Zm9=", "Zm8",
        "Zm9v=", "Zm9v====", "Zm 9v", "Zm9v\n", "Zg==Zg==", "Z", "Zm9vY"}) {
    EXPECT_FALSE(decode(text)) << text;
  }
  EXPECT_FALSE(decode("Zh", Alphabet::Url));
  EXPECT_FALSE(decode("Z", Alphabet::Url));
}

}  // namespace
}  // namespace skua::base64

namespace skua::hex {
namespace {

TEST(Hex, WritesTwoDigitsAByte) {
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode(std::string_view("\0\x0f\xa5\xff", 4)), "000fa5ff");
}

TEST(Hex, KnowsItsOwnText) {
  EXPECT_TRUE(is_lower_text("00ff", 4));
  EXPECT_FALSE(is_lower_text("00FF", 4));
  EXPECT_FALSE(is_lower_text("00ff", 6));
  EXPECT_FALSE(is_lower_text("00fg", 4));
}

}  // namespace
}  // namespace skua::hex
