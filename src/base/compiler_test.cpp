// SPDX-License-Identifier: MIT
#include "base/compiler.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>

namespace skua::compiler {
namespace {

using Octets = std::array<std::uint8_t, 16>;

template <class Bytes>
Octets combined(const Octets& first, const Octets& second) {
  const auto a = std::bit_cast<Bytes>(first);
  const auto b = std::bit_cast<Bytes>(second);
  return std::bit_cast<Octets>((~((a < 0x20) | (b == 0x7f)) & ((a | 1) == '/')) | ((b - '0') < 10));
}

TEST(Bytes16, PlainOnesActLikeVectors) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned from = 0; from < 256; from += 16) {
      Octets a;
      Octets b;
      for (unsigned i = 0; i < 16; ++i) {
        a[i] = static_cast<std::uint8_t>(first);
        b[i] = static_cast<std::uint8_t>(from + i);
      }
      ASSERT_EQ(combined<PlainBytes16>(a, b), combined<Bytes16>(a, b)) << first << ' ' << from;
    }
  }
}

TEST(Bytes16, OneSetBitIsFoundInEachPlace) {
  EXPECT_FALSE(has_any(std::bit_cast<PlainBytes16>(Octets{})));
  for (unsigned i = 0; i < 128; ++i) {
    Octets octets{};
    octets[i / 8] = static_cast<std::uint8_t>(1U << i % 8);
    EXPECT_TRUE(has_any(std::bit_cast<PlainBytes16>(octets))) << i;
    EXPECT_TRUE(has_any(std::bit_cast<Bytes16>(octets))) << i;
  }
}

}  // namespace
}  // namespace skua::compiler
