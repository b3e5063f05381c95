// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.hpp"

namespace skua::hex {

/// Encodes every byte as two lower-case digits.
inline std::string encode(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4U];
    text += digits[static_cast<unsigned char>(c) & 0xfU];
  }
  return text;
}

/// Reports whether `text` consists of exactly `digits` lower-case hexadecimal digits.
constexpr bool is_lower_text(std::string_view text, std::size_t digits) noexcept {
  if (text.size() != digits) return false;
  for (const char c : text) {
    if (!ascii::is_hex(c) || (c >= 'A' && c <= 'F')) return false;
  }
  return true;
}

}  // namespace skua::hex
