// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/ascii.hpp"

/// Scanners in plain C++, eight bytes at a time if the class allows it.
namespace skua::scan::portable {

template <ascii::Class Wanted>
inline const char* find_by_table(const char* p, const char* end) noexcept {
  while (p != end && ascii::is(*p, Wanted)) ++p;
  return p;
}

/// Reports whether eight bytes contain one that is invalid in a field value, or HTAB.
inline bool may_have_control(const char* p) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  const std::uint64_t below_space = (word - ones * 0x20) & ~word;
  const std::uint64_t no_delete = word ^ (ones * 0x7f);
  const std::uint64_t is_delete = (no_delete - ones) & ~no_delete;
  return ((below_space | is_delete) & (ones * 0x80)) != 0;
}

inline const char* token_end(const char* /*floor*/, const char* p, const char* end) noexcept {
  return find_by_table<ascii::Token>(p, end);
}

inline const char* field_value_end(const char* /*floor*/, const char* p, const char* end) noexcept {
  while (end - p >= 8) {
    if (may_have_control(p)) {
      const char* const found = find_by_table<ascii::FieldValue>(p, p + 8);
      if (found != p + 8) return found;
    }
    p += 8;
  }
  return find_by_table<ascii::FieldValue>(p, end);
}

inline const char* target_end(const char* /*floor*/, const char* p, const char* end) noexcept {
  return find_by_table<ascii::PathTarget>(p, end);
}

/// Returns how often a byte occurs.
inline std::uint32_t count(const char* /*floor*/, const char* p, const char* end,
                           char wanted) noexcept {
  std::uint32_t found = 0;
  for (; p != end; ++p) found += *p == wanted ? 1U : 0U;
  return found;
}

}  // namespace skua::scan::portable

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
