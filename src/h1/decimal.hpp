// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace skua::h1 {

/// "00" to "99", concatenated.
inline constexpr std::array<char, 200> digit_pairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

/// Writes a number as 1 to 20 decimal digits and returns their end.
inline char* put_decimal(std::uint64_t number, char* out) noexcept {
  if (number < 10) {
    *out = static_cast<char>('0' + number);
    return out + 1;
  }
  if (number < 100) {
    std::memcpy(out, &digit_pairs[2 * number], 2);
    return out + 2;
  }
  char digits[20];
  char* p = digits + sizeof digits;
  while (number >= 100) {
    p -= 2;
    std::memcpy(p, &digit_pairs[2 * (number % 100)], 2);
    number /= 100;
  }
  if (number >= 10) {
    p -= 2;
    std::memcpy(p, &digit_pairs[2 * number], 2);
  } else {
    *--p = static_cast<char>('0' + number);
  }
  const auto size = static_cast<std::size_t>(digits + sizeof digits - p);
  std::memcpy(out, p, size);
  return out + size;
}

}  // namespace skua::h1
