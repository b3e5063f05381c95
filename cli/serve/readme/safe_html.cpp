// SPDX-License-Identifier: MIT
// In: text that anybody may have written. Out: text that is harmless at its place in a page.
#include "serve/readme/safe_html.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/ascii.hpp"
#include "files/listing/escape.hpp"

namespace skua::cli {
namespace {

constexpr std::array<std::string_view, 3> safe_schemes = {"http", "https", "mailto"};

// Browsers remove white space and control characters from URLs, read `\` as `/`, and percent-encode
// the others themselves.
constexpr bool is_url_character(char c) noexcept {
  constexpr std::string_view refused = "\"<>\\^`{|}";
  return c > ' ' && c < '\x7F' && refused.find(c) == refused.npos;
}

void append_utf8(std::string& out, std::uint32_t character) {
  const auto put = [&out](std::uint32_t octet) { out += static_cast<char>(octet); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xC0U | character >> 6U);
  } else if (character < 0x10000) {
    put(0xE0U | character >> 12U);
    put(0x80U | (character >> 6U & 0x3FU));
  } else {
    put(0xF0U | character >> 18U);
    put(0x80U | (character >> 12U & 0x3FU));
    put(0x80U | (character >> 6U & 0x3FU));
  }
  put(0x80U | (character & 0x3FU));
}

bool is_character(std::uint32_t number) noexcept {
  const bool is_surrogate = number >= 0xD800 && number <= 0xDFFF;
  return number != 0 && number <= 0x10FFFF && !is_surrogate;
}

}  // namespace

void append_escaped_text(std::string& out, std::string_view text) {
  while (true) {
    const std::size_t end = text.find_first_of("\n\t");
    files::append_html(out, text.substr(0, end));
    if (end == text.npos) return;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> safe_url(std::string_view url, Reference& leads) {
  const std::size_t mark = url.find_first_of(":/?#");
  const bool has_scheme = mark != url.npos && url[mark] == ':';
  if (has_scheme && std::ranges::none_of(safe_schemes, [&](std::string_view scheme) {
        return ascii::equals_ignoring_case(url.substr(0, mark), scheme);
      })) {
    return std::nullopt;
  }
  leads = has_scheme || url.starts_with("//") ? Reference::Elsewhere : Reference::Here;
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : url) {
    const auto octet = static_cast<unsigned char>(c);
    if (is_url_character(c)) {
      encoded += c;
    } else {
      encoded.append(1, '%').append(1, digits[octet >> 4U]).append(1, digits[octet & 15U]);
    }
  }
  std::string value;
  files::append_html(value, encoded);
  return value;
}

void append_decoded(std::string& out, std::string_view entity) {
  constexpr std::array<std::pair<std::string_view, char>, 4> names = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}}};
  for (const auto& [name, character] : names) {
    if (entity == name) {
      out += character;
      return;
    }
  }
  if (!entity.starts_with("&#") || !entity.ends_with(';')) {
    out += entity;
    return;
  }
  std::string_view digits = entity.substr(2, entity.size() - 3);
  const bool is_hexadecimal = digits.starts_with('x') || digits.starts_with('X');
  if (is_hexadecimal) digits.remove_prefix(1);
  std::uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number, is_hexadecimal ? 16 : 10);
  const bool is_known = read.ec == std::errc() && read.ptr == end && is_character(number);
  append_utf8(out, is_known ? number : 0xFFFD);
}

std::string fragment_of(std::string_view heading) {
  std::string fragment;
  for (const char c : heading) {
    const bool is_kept = ascii::is_alpha(c) || ascii::is_digit(c) || c == '-' || c == '_' ||
                         static_cast<unsigned char>(c) >= 0x80;
    if (is_kept) fragment += ascii::to_lower(c);
    if (c == ' ') fragment += '-';
  }
  return fragment;
}

}  // namespace skua::cli
