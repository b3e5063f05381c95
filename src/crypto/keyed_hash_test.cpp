// SPDX-License-Identifier: MIT
#include "crypto/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace skua::crypto {
namespace {

// The key in the paper's appendix: 00 01 … 0f.
constexpr KeyedHash known(0x0706050403020100U, 0x0f0e0d0c0b0a0908U);

std::string counting(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i);
  return text;
}

TEST(KeyedHash, IsThatOfThePaper) {
  EXPECT_EQ(known(counting(15)), 0xa129ca6149be45e5U);
  EXPECT_EQ(known(counting(0)), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(known(counting(8)), 0x93f5f5799a932462U);
}

TEST(KeyedHash, DependsOnTheKeyAndOnEveryByte) {
  const KeyedHash one;
  const KeyedHash other;
  EXPECT_NE(one("text"), other("text"));
  EXPECT_EQ(one("text"), KeyedHash(one)("text"));
  std::set<std::uint64_t> found;
  for (std::size_t size = 0; size < 64; ++size) found.insert(one(std::string(size, '\0')));
  EXPECT_EQ(found.size(), 64U);
}

}  // namespace
}  // namespace skua::crypto
