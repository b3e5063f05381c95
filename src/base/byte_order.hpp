// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

/// Loads and stores words of a given byte order, on any machine.
namespace skua::byte_order {

constexpr std::uint32_t swapped(std::uint32_t word) noexcept {
  return word >> 24 | (word >> 8 & 0xff00U) | (word << 8 & 0xff0000U) | word << 24;
}
constexpr std::uint64_t swapped(std::uint64_t word) noexcept {
  return std::uint64_t{swapped(static_cast<std::uint32_t>(word))} << 32 |
         swapped(static_cast<std::uint32_t>(word >> 32));
}

/// Converts between the machine's order and `order`.
template <std::unsigned_integral Word>
constexpr Word converted(Word word, std::endian order) noexcept {
  return std::endian::native == order ? word : swapped(word);
}

template <std::unsigned_integral Word, std::endian Order>
inline Word load(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return converted(word, Order);
}

template <std::endian Order, std::unsigned_integral Word>
inline void store(char* to, Word word) noexcept {
  word = converted(word, Order);
  std::memcpy(to, &word, sizeof word);
}

}  // namespace skua::byte_order
