// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ascii.hpp"

namespace skua::scan {

/// A class of ASCII bytes, as lookup tables for byte shuffles: byte c is in it if
/// `low[c & 15] & high[c >> 4]` is not 0. Bytes from 0x80 on are never in it.
struct Nibbles {
  alignas(16) std::array<std::uint8_t, 16> low{};
  alignas(16) std::array<std::uint8_t, 16> high{};
};

constexpr Nibbles make_nibbles(ascii::Class wanted) {
  Nibbles nibbles{};
  for (unsigned c = 0; c < 0x80; ++c) {
    if (!ascii::is(static_cast<char>(c), wanted)) continue;
    nibbles.low[c & 15] = static_cast<std::uint8_t>(nibbles.low[c & 15] | 1U << (c >> 4));
  }
  for (unsigned high = 0; high < 8; ++high) {
    nibbles.high[high] = static_cast<std::uint8_t>(1U << high);
  }
  return nibbles;
}

inline constexpr Nibbles token_nibbles = make_nibbles(ascii::Token);
inline constexpr Nibbles target_nibbles = make_nibbles(ascii::PathTarget);

}  // namespace skua::scan
