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
      [&out](std::string_view character) { out.append(character); });
}

void append_path(std::string& out, std::string_view path) {
  percent::append(out, path,
                  [](char c) { return c == '/' || percent::is(c, percent::Unreserved); });
}

void append_json(std::string& out, std::string_view text) {
  const auto escape = [&out](char c) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += hex_digits[byte >> 4U];
    out += hex_digits[byte & 15U];
  };
  const auto one = [&](char c) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c) || c == '<' || c == '>' || c == '&') {
      escape(c);
    } else {
      out += c;
    }
  };
  // Also escapes the controls U+0080 to U+009F: terminals obey them.
  const auto more = [&](std::string_view character) {
    const bool is_c1 = character.size() == 2 && character[0] == '\xC2' &&
                       static_cast<unsigned char>(character[1]) < 0xA0;
    is_c1 ? escape(character[1]) : static_cast<void>(out.append(character));
  };
  out += '"';
  append_characters(text, one, more);
  out += '"';
}

}  // namespace skua::files
