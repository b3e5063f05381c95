// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::ascii {

/// Classes of octets, as bits; a byte may be in several.
enum Class : std::uint8_t {
  Token = 1,        ///< tchar. RFC 9110 §5.6.2
  FieldValue = 2,   ///< HTAB, SP, visible, obs-text. RFC 9110 §5.5
  PathTarget = 4,   ///< allowed anywhere in a request target
  QueryTarget = 8,  ///< allowed in a request target after a '?'
  Digit = 16,
  Hex = 32,
  Alpha = 64,
};

namespace detail {

constexpr bool contains(std::string_view set, unsigned char c) {
  return set.find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr std::uint8_t classify(unsigned char c) {
  const bool digit = c >= '0' && c <= '9';
  const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  unsigned bits = 0;
  if (digit || alpha || contains("!#$%&'*+-.^_`|~", c)) bits |= Token;
  if (c == '\t' || (c >= 0x20 && c != 0x7f)) bits |= FieldValue;
  // RFC 3986 §3.3: pchar, '/' and '?'; and '[', ']', '|', which browsers do not encode (WHATWG
  // URL, path percent-encode set) and which have no meaning here.
  if (digit || alpha || contains("-._~!$&'()*+,;=:@%/?[]|", c)) bits |= PathTarget | QueryTarget;
  // Browsers do not encode these in a query (WHATWG URL, special-query percent-encode set). In a
  // path they are refused: '\' is a separator elsewhere. `"`, '<', '>' and '#' never pass.
  if (contains("\\^`{}", c)) bits |= QueryTarget;
  if (digit) bits |= Digit;
  if (digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= Hex;
  if (alpha) bits |= Alpha;
  return static_cast<std::uint8_t>(bits);
}

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) table[c] = classify(static_cast<unsigned char>(c));
  return table;
}

}  // namespace detail

inline constexpr std::array<std::uint8_t, 256> classes = detail::make_classes();

constexpr bool is(char c, unsigned wanted) noexcept {
  return (classes[static_cast<unsigned char>(c)] & wanted) != 0;
}
constexpr bool is_token(char c) noexcept { return is(c, Token); }
constexpr bool is_field_value(char c) noexcept { return is(c, FieldValue); }
constexpr bool is_digit(char c) noexcept { return is(c, Digit); }
constexpr bool is_hex(char c) noexcept { return is(c, Hex); }
constexpr bool is_alpha(char c) noexcept { return is(c, Alpha); }
/// Whether `c` is optional white space: SP or HTAB. RFC 9110 §5.6.3
constexpr bool is_ows(char c) noexcept { return c == ' ' || c == '\t'; }
/// Whether `c` is a CTL. RFC 5234 appendix B.1
constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}
constexpr bool has_control(std::string_view text) noexcept {
  for (const char c : text) {
    if (is_control(c)) return true;
  }
  return false;
}

/// Returns the value of a hexadecimal digit; `c` must be one.
constexpr unsigned hex_value(char c) noexcept {
  return (static_cast<unsigned>(c) & 0xfU) + (is_alpha(c) ? 9U : 0U);
}

constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

/// Reports whether two texts are equal, ignoring the case of A-Z.
constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

/// Removes leading optional white space.
constexpr void skip_ows(std::string_view& text) noexcept {
  while (!text.empty() && is_ows(text.front())) text.remove_prefix(1);
}

/// Returns the text without leading and trailing optional white space.
constexpr std::string_view trim_ows(std::string_view text) noexcept {
  skip_ows(text);
  while (!text.empty() && is_ows(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool is_token_text(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_token(c)) return false;
  }
  return !text.empty();
}

/// Removes the next element from a comma-separated list and returns it, trimmed; it may be empty.
///
/// RFC:       9110 §5.6.1
constexpr std::string_view take_list_element(std::string_view& list) noexcept {
  const std::size_t comma = list.find(',');
  const std::string_view element = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  return trim_ows(element);
}

static_assert(is_token('!') && !is_token(':') && !is_token('\x80') && !is_token(' '));
static_assert(is_field_value('\t') && is_field_value('\xff') && !is_field_value('\x7f'));
static_assert(is('|', PathTarget) && !is('\\', PathTarget) && is('\\', QueryTarget));
static_assert(!is('#', QueryTarget) && !is('"', QueryTarget) && !is('\x80', QueryTarget));
static_assert(hex_value('7') == 7 && hex_value('a') == 10 && hex_value('F') == 15);

}  // namespace skua::ascii
