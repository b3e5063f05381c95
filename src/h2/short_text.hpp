// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ascii.hpp"

/// Most names and values are so short that inline code, eight octets at a time, is faster than a
/// call. The last word overlaps the one before it, so nothing outside the text is read.
namespace skua::h2::short_text {

/// Lowercases eight letters at once. Bit 7 of each octet of `upper` marks one of A-Z.
inline std::uint64_t lower_word(const char* text) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t highest = 0x80 * ones;
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  const std::uint64_t low = word & ~highest;
  const std::uint64_t at_least_a = low + (0x80 - 'A') * ones;
  const std::uint64_t above_z = low + (0x7f - 'Z') * ones;
  const std::uint64_t upper = (at_least_a ^ above_z) & ~word & highest;
  return word | upper >> 2U;
}

/// Writes a text with A-Z lowercased.
inline void to_lower(std::string_view text, char* out) noexcept {
  constexpr std::size_t size = sizeof(std::uint64_t);
  if (text.size() < size) {
    for (const char c : text) *out++ = ascii::to_lower(c);
    return;
  }
  const std::size_t last = text.size() - size;
  for (std::size_t i = 0;; i = std::min(i + size, last)) {
    const std::uint64_t word = lower_word(text.data() + i);
    std::memcpy(out + i, &word, sizeof word);
    if (i == last) return;
  }
}

template <class Word>
bool is_same_word(const char* a, const char* b) noexcept {
  Word first;
  Word second;
  std::memcpy(&first, a, sizeof first);
  std::memcpy(&second, b, sizeof second);
  return first == second;
}

inline bool is_same_pair(const char* a, const char* b) noexcept {
  return is_same_word<std::uint64_t>(a, b) && is_same_word<std::uint64_t>(a + 8, b + 8);
}

/// Reports whether two texts are equal.
[[gnu::always_inline]] inline bool is_same(std::string_view text, std::string_view other) noexcept {
  const std::size_t size = text.size();
  if (size != other.size()) return false;
  const char* a = text.data();
  const char* b = other.data();
  if (size >= 16) {
    const char* const last = a + (size - 16);
    for (; a < last; a += 16, b += 16) {
      if (!is_same_pair(a, b)) return false;
    }
    return is_same_pair(last, other.data() + (size - 16));
  }
  if (size >= 8) {
    const std::size_t last = size - 8;
    return is_same_word<std::uint64_t>(a, b) && is_same_word<std::uint64_t>(a + last, b + last);
  }
  if (size >= 4) {
    const std::size_t last = size - 4;
    return is_same_word<std::uint32_t>(a, b) && is_same_word<std::uint32_t>(a + last, b + last);
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace skua::h2::short_text
