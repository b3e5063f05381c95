// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.hpp"

namespace skua::base64 {

/// The two alphabets of RFC 4648: §4 with padding, §5 for URLs and cookies, without.
enum class Alphabet : std::uint8_t { Standard, Url };

/// Encodes bytes as text.
///
/// RFC:       4648 §4, §5
std::string encode(std::string_view bytes, Alphabet alphabet = Alphabet::Standard);

/// Decodes text; nullopt unless it is exactly what encode() writes: padding if the alphabet has
/// it and nowhere else, unused bits zero, no white space.
///
/// RFC:       4648 §3.3, §3.5
std::optional<std::string> decode(std::string_view text, Alphabet alphabet = Alphabet::Standard);

}  // namespace skua::base64

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
