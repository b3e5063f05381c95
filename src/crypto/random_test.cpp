// SPDX-License-Identifier: MIT
#include "crypto/random.hpp"

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::crypto {
namespace {

constexpr unsigned words_bits = 64;

// The last step of mt19937_64 is `x ^= (x >> shift) & mask`, or to the left, four times: each can
// be taken back, bit after bit.
std::uint64_t without_right(std::uint64_t word, unsigned shift, std::uint64_t mask) {
  std::uint64_t found = word;
  for (unsigned known = shift; known < words_bits; known += shift) {
    found = word ^ ((found >> shift) & mask);
  }
  return found;
}
std::uint64_t without_left(std::uint64_t word, unsigned shift, std::uint64_t mask) {
  std::uint64_t found = word;
  for (unsigned known = shift; known < words_bits; known += shift) {
    found = word ^ ((found << shift) & mask);
  }
  return found;
}
std::uint64_t untempered(std::uint64_t word) {
  word = without_right(word, 43, ~std::uint64_t{0});
  word = without_left(word, 37, 0xfff7eee000000000U);
  word = without_left(word, 17, 0x71d67fffeda60000U);
  return without_right(word, 29, 0x5555555555555555U);
}
std::uint64_t tempered(std::uint64_t word) {
  word ^= (word >> 29U) & 0x5555555555555555U;
  word ^= (word << 17U) & 0x71d67fffeda60000U;
  word ^= (word << 37U) & 0xfff7eee000000000U;
  return word ^ (word >> 43U);
}

TEST(RandomWords, AreNotAGeneratorWhoseStateWordsTell) {
  constexpr std::size_t state_words = 312;
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < 2 * state_words; ++i) words.push_back(random_word());
  std::size_t predicted = 0;
  for (std::size_t i = state_words; i < words.size(); ++i) {
    const std::uint64_t mixed = (untempered(words[i - state_words]) & 0xffffffff80000000U) |
                                (untempered(words[i - state_words + 1]) & 0x7fffffffU);
    const std::uint64_t next = untempered(words[i - state_words / 2]) ^ (mixed >> 1U) ^
                               ((mixed & 1U) != 0 ? 0xb5026f5aa96619e9U : 0);
    if (tempered(next) == words[i]) ++predicted;
  }
  EXPECT_EQ(predicted, 0U);
}

TEST(RandomWords, DrawsOfAnySizeDiffer) {
  for (const std::size_t size : {8U, 12U, 16U, 255U, 256U, 257U, 1000U}) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
      std::string bytes(size, '\0');
      draw(std::as_writable_bytes(std::span(bytes)));
      EXPECT_TRUE(seen.insert(bytes).second) << size;
    }
  }
  draw({});
}

TEST(RandomToken, IsTwoDigitsForEachByte) {
  EXPECT_EQ(random_token(0).value(), "");
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token().value();
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos) << token;
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 100U);
  EXPECT_EQ(random_token(1000).value().size(), 2000U) << "more than a thread keeps";
}

}  // namespace
}  // namespace skua::crypto
