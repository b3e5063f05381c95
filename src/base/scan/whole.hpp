// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ascii.hpp"
#include "base/compiler.hpp"

/// Checks whether a whole short text is in a class, with the vectors that every processor has.
namespace skua::scan {
namespace whole {

using compiler::Bytes16;

/// Loads the eight bytes from `first` on, and those from `second` on.
inline Bytes16 load_two(const char* first, const char* second) noexcept {
  std::array<std::uint64_t, 2> halves;
  std::memcpy(&halves[0], first, 8);
  std::memcpy(&halves[1], second, 8);
  return std::bit_cast<Bytes16>(halves);
}

/// A mask of the bytes that are not allowed in a field value, and of HTAB.
struct Control {
  Bytes16 operator()(Bytes16 bytes) const noexcept {
    return std::bit_cast<Bytes16>((bytes < 0x20) | (bytes == 0x7f));
  }
};

/// A mask of all bytes but letters, digits and `-`.
struct Unusual {
  Bytes16 operator()(Bytes16 bytes) const noexcept {
    const Bytes16 lower = bytes | 0x20;
    return std::bit_cast<Bytes16>(~((lower - 'a' < 26) | (bytes - '0' < 10) | (bytes == '-')));
  }
};

/// Reports whether a text of at least eight bytes has no byte that `find` finds.
template <class Find>
inline bool has_none(std::string_view text, Find find) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  // The last load overlaps the one before, so that no byte is left over.
  if (text.size() < 16) return !compiler::has_any(find(load_two(p, end - 8)));
  Bytes16 found = find(compiler::load16(end - 16));
  for (; end - p > 16; p += 16) found = found | find(compiler::load16(p));
  return !compiler::has_any(found);
}

}  // namespace whole

/// Reports whether a text is a valid field value. RFC 9110 §5.5
inline bool is_field_value(std::string_view text) noexcept {
  if (text.size() >= 8 && whole::has_none(text, whole::Control())) [[likely]]
    return true;
  for (const char c : text) {
    if (!ascii::is_field_value(c)) return false;
  }
  return true;
}

/// Like ascii::is_token_text(), but faster for names that are longer than a few bytes.
inline bool is_token_text(std::string_view text) noexcept {
  if (text.size() >= 8 && whole::has_none(text, whole::Unusual())) [[likely]]
    return true;
  return ascii::is_token_text(text);
}

}  // namespace skua::scan
