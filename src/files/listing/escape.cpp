// SPDX-License-Identifier: MIT
// In: names as the file system has them, any bytes but '/' and NUL. Out: text that is harmless in
// HTML, a URL or JSON. Names may be invalid UTF-8; only known-good sequences pass unchanged.
#include "files/listing/escape.hpp"

#include "base/percent.hpp"

#include <cstdint>

namespace skua::files {
namespace {

constexpr std::string_view replacement = "\uFFFD";
constexpr std::string_view hex_digits = "0123456789ABCDEF";

}  // namespace

// Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
std::size_t character_size(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : std::uint8_t{0};
  };
  const auto is_tail = [](std::uint8_t b) { return (b & 0xC0) == 0x80; };
  const std::uint8_t first = byte(0);
  const std::uint8_t second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return is_tail(second) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const std::uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t high = first == 0xED ? 0x9F : 0xBF;
    return second >= low && second <= high && is_tail(byte(2)) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const std::uint8_t low = first == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high && is_tail(byte(2)) && is_tail(byte(3)) ? 4 : 0;
  }
  return 0;
}

namespace {

// Returns the code point of a well-formed sequence of two or three bytes; 0 for longer ones, none
// of which are controls.
std::uint32_t code_point(std::string_view sequence) noexcept {
  const auto bits = [sequence](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(sequence[i]) & 0x3fU);
  };
  if (sequence.size() == 2) return (bits(0) & 0x1fU) << 6U | bits(1);
  if (sequence.size() == 3) return (bits(0) & 0x0fU) << 12U | bits(1) << 6U | bits(2);
  return 0;
}

}  // namespace

bool is_deceptive(std::string_view character) noexcept {
  const std::uint32_t point = code_point(character);
  const bool is_c1 = point >= 0x80 && point <= 0x9f;
  const bool is_direction =
      (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
  const bool is_line_end = point == 0x2028 || point == 0x2029;
  return is_c1 || is_direction || is_line_end || point == 0xfeff;
}

namespace {

// Calls `one` for each ASCII character and `more` for the others; replaces invalid bytes.
template <class One, class More>
void append_characters(std::string_view text, One one, More more) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 1) {
      one(text.front());
    } else {
      more(size == 0 ? replacement : text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

}  // namespace

void append_html(std::string& out, std::string_view text) {
  append_characters(
      text,
      [&out](char c) {
        switch (c) {
          case '&': out += "&amp;"; break;
          case '<': out += "&lt;"; break;
          case '>': out += "&gt;"; break;
          case '"': out += "&quot;"; break;
          case '\'': out += "&#39;"; break;
          case '`': out += "&#96;"; break;
          default: is_control(c) ? out.append(replacement) : out.append(1, c);
        }
      },
      [&out](std::string_view character) {
        out.append(is_deceptive(character) ? replacement : character);
      });
}

void append_path(std::string& out, std::string_view path) {
  percent::append(out, path,
                  [](char c) { return c == '/' || percent::is(c, percent::Unreserved); });
}

void append_json(std::string& out, std::string_view text) {
  const auto escape = [&out](std::uint32_t point) {
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) out += hex_digits[point >> shift & 15U];
  };
  const auto one = [&](char c) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c) || c == '<' || c == '>' || c == '&') {
      escape(static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  };
  const auto more = [&](std::string_view character) {
    if (is_deceptive(character)) {
      escape(code_point(character));
    } else {
      out.append(character);
    }
  };
  out += '"';
  append_characters(text, one, more);
  out += '"';
}

}  // namespace skua::files
