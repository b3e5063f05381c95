// SPDX-License-Identifier: MIT
// In: a text that somebody else chose. Out: a JSON string in printable ASCII: characters beyond it
// are written as \uHHHH, so that neither a terminal nor a reader of lines obeys one of them.
#include "http/message/json_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace skua::http {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t size_bytes;
};

// Returns the first character of a text; U+FFFD and one byte if that is not UTF-8. RFC 3629 §4
Character first_of(std::string_view text) noexcept {
  constexpr Character invalid{0xFFFD, 1};
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xC0   ? 0
                           : lead < 0xE0 ? 2
                           : lead < 0xF0 ? 3
                           : lead < 0xF8 ? 4
                                         : 0;
  if (lead < 0x80) return {lead, 1};
  if (size == 0 || text.size() < size) return invalid;
  std::uint32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80) return invalid;
    code = (code << 6U) | (next & 0x3FU);
  }
  const bool is_surrogate = code >= 0xD800 && code < 0xE000;
  if (code < least[size] || code > 0x10FFFF || is_surrogate) return invalid;
  return {code, size};
}

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr std::string_view digits = "0123456789abcdef";
  out.append("\\u");
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += digits[(unit >> shift) & 15U];
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto [code, size_bytes] = first_of(text);
    if (code == '"' || code == '\\') {
      out.append(1, '\\').append(1, static_cast<char>(code));
    } else if (code >= 0x20 && code < 0x7F) {
      out += static_cast<char>(code);
    } else if (code >= 0x10000) {
      append_unit(out, 0xD800 + ((code - 0x10000) >> 10U));
      append_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FFU));
    } else {
      append_unit(out, code);
    }
    text.remove_prefix(size_bytes);
  }
  out += '"';
}

}  // namespace skua::http
