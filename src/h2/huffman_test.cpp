// SPDX-License-Identifier: MIT
#include "h2/huffman.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

#include "support/hpack.hpp"

namespace skua::h2 {
namespace {

using hpack::bytes;

std::string coded(std::string_view text) {
  std::string out = "before";
  huffman_encode(text, out);
  EXPECT_EQ(out.size(), 6 + huffman_size(text));
  EXPECT_EQ(out.substr(0, 6), "before");
  return out.substr(6);
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out = "before";
  const bool is_fine = huffman_decode(text, out);
  EXPECT_EQ(out.substr(0, 6), "before");
  if (is_fine) return out.substr(6);
  EXPECT_EQ(out.size(), 6U);
  return std::nullopt;
}

TEST(Huffman, WritesAndReadsTheExamplesOfTheStandard) {
  // RFC 7541 appendix C.4 and C.6
  const std::pair<std::string, std::string> examples[] = {
      {"www.example.com", "f1e3 c2e5 f23a 6ba0 ab90 f4ff"},
      {"no-cache", "a8eb 1064 9cbf"},
      {"custom-key", "25a8 49e9 5ba9 7d7f"},
      {"custom-value", "25a8 49e9 5bb8 e8b4 bf"},
      {"302", "6402"},
      {"private", "aec3 771a 4b"},
      {"Mon, 21 Oct 2013 20:13:21 GMT", "d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff"},
      {"https://www.example.com", "9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3"},
      {"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
       "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 "
       "03ed 4ee5 b106 3d50 07"}};
  for (const auto& [text, digits] : examples) {
    EXPECT_EQ(coded(text), bytes(digits)) << text;
    EXPECT_EQ(decoded(bytes(digits)), text);
  }
}

TEST(Huffman, EveryOctetComesBack) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    // After any number of preceding bits, and with other symbols after it.
    for (std::size_t before = 0; before < 20; ++before) {
      for (std::size_t after = 0; after < 12; after += 3) {
        std::string text(before, '0');
        text += static_cast<char>(octet);
        text.append(after, 'a');
        ASSERT_EQ(decoded(coded(text)), text) << octet;
      }
    }
    const std::string many(300, static_cast<char>(octet));
    ASSERT_EQ(decoded(coded(many)), many) << octet;
  }
}

TEST(Huffman, RandomTextComesBack) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string text(random() % 120, '\0');
    const unsigned range = i % 2 == 0 ? 256 : 96;
    for (char& c : text) c = static_cast<char>(random() % range + (range == 96 ? 0x20 : 0));
    ASSERT_EQ(decoded(coded(text)), text);
  }
  EXPECT_EQ(coded(""), "");
  EXPECT_EQ(decoded(""), "");
}

TEST(Huffman, PaddingIsOfOnesAndShorterThanAnOctet) {
  // '0' is 00000, which leaves three bits.
  for (unsigned octet = 0; octet < 8; ++octet) {
    const std::string text(1, static_cast<char>(octet));
    EXPECT_EQ(decoded(text).has_value(), octet == 7) << octet;
  }
  // '&' is 11111000, which leaves no bits.
  EXPECT_EQ(decoded("\xf8"), "&");
  for (const std::size_t ones : {1U, 2U, 3U, 4U, 5U, 8U, 9U, 20U}) {
    EXPECT_EQ(decoded("\xf8" + std::string(ones, '\xff')), std::nullopt) << ones;
    EXPECT_EQ(decoded(std::string(ones, '\xff')), std::nullopt) << ones;
    EXPECT_EQ(decoded(std::string(10, '\x07') + std::string(ones, '\xff')), std::nullopt) << ones;
  }
  // 'X' is 11111100; its first bits are not padding.
  EXPECT_EQ(decoded(bytes("07e0")), std::nullopt);
  EXPECT_EQ(decoded(bytes("07fe")), std::nullopt);
}

TEST(Huffman, TheEndOfStringSymbolIsRefused) {
  // 30 ones, padded with ones, or before '0' (00000).
  EXPECT_EQ(decoded(bytes("ffff ffff")), std::nullopt);
  EXPECT_EQ(decoded(bytes("ffff fffc 1f")), std::nullopt);
  // After '0', and with much after it.
  EXPECT_EQ(decoded(bytes("07ff ffff ff")), std::nullopt);
  EXPECT_EQ(decoded(bytes("07ff ffff e0") + std::string(20, '\x07')), std::nullopt);
}

TEST(Huffman, ACodeThatIsCutOffIsRefused) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const std::string text = coded(std::string("0") + static_cast<char>(octet));
    for (std::size_t size = 1; size < text.size(); ++size) {
      const auto read = decoded(std::string_view(text).substr(0, size));
      // At most the '0' is complete, and the rest of the other may look like padding.
      if (read) {
        ASSERT_EQ(read, "0") << octet;
        ASSERT_EQ(text[0], '\x07') << octet;
      }
    }
  }
}

TEST(Huffman, ReadsNoMoreThanItHasRoomFor) {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string zeros(size, '\0');  // repeats the shortest code
    std::string out(huffman_room(size), '?');
    const char* const end = huffman_read(zeros, out.data());
    const std::size_t symbols = size * 8 / 5;
    ASSERT_LE(symbols, huffman_room(size));
    // Valid only if the codes use up all bits, without padding.
    ASSERT_EQ(end == nullptr, size % 5 != 0) << size;
    if (end != nullptr) {
      ASSERT_EQ(end, out.data() + symbols);
    }
  }
}

}  // namespace
}  // namespace skua::h2
