// SPDX-License-Identifier: MIT
// In: the value of a structured field. Out: its bare items and keys, checked by the rules of
// RFC 9651 §4.2, as views.
#include "http/structured/scanner.hpp"

#include "base/ascii.hpp"

namespace skua::http {
namespace {

constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_key(char c) noexcept {
  return is_lower(c) || ascii::is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
}
constexpr bool is_printable(char c) noexcept { return c >= ' ' && c <= '~'; }
constexpr bool is_base64(char c) noexcept {
  return ascii::is_alpha(c) || ascii::is_digit(c) || c == '+' || c == '/';
}
constexpr bool is_lower_hex(char c) noexcept {
  return ascii::is_digit(c) || (c >= 'a' && c <= 'f');
}

template <class Is>
std::size_t count_while(std::string_view text, Is is) noexcept {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is) - text.begin());
}

}  // namespace

void StructuredScanner::skip(char other) noexcept {
  while (is_at(' ') || is_at(other)) rest_.remove_prefix(1);
}

bool StructuredScanner::read_key(std::string_view& key) noexcept {
  if (rest_.empty() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
  key = rest_.substr(0, count_while(rest_, is_key));
  rest_.remove_prefix(key.size());
  return true;
}

bool StructuredScanner::read_bare_item(BareItem& item) noexcept {
  if (rest_.empty()) return false;
  const char first = rest_.front();
  if (first == '-' || ascii::is_digit(first)) return read_number(item);
  if (first == '*' || ascii::is_alpha(first)) return read_token(item);
  rest_.remove_prefix(1);
  switch (first) {
    case '"': return read_string(item);
    case ':': return read_bytes(item);
    case '@':  // §4.2.9
      if (!read_number(item) || item.type != BareItem::Type::Integer) return false;
      item.type = BareItem::Type::Date;
      return true;
    case '%': return take('"') && read_display(item);
    case '?':
      item = {.type = BareItem::Type::Boolean, .number = is_at('1') ? 1 : 0};
      return take('1') || take('0');
    default: return false;
  }
}

// §4.2.4: at most 15 digits, or 12 and up to three after a point.
bool StructuredScanner::read_number(BareItem& item) noexcept {
  const bool is_negative = take('-');
  const std::size_t digits = count_while(rest_, ascii::is_digit);
  if (digits == 0 || digits > 15) return false;
  std::int64_t number = 0;
  for (const char c : rest_.substr(0, digits)) number = number * 10 + (c - '0');
  rest_.remove_prefix(digits);
  item.type = BareItem::Type::Integer;
  if (take('.')) {
    const std::size_t places = count_while(rest_, ascii::is_digit);
    if (digits > 12 || places == 0 || places > 3) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      number = number * 10 + (i < places ? rest_[i] - '0' : 0);
    }
    rest_.remove_prefix(places);
    item.type = BareItem::Type::Decimal;
  }
  item.number = is_negative ? -number : number;
  return true;
}

// §4.2.5
bool StructuredScanner::read_string(BareItem& item) noexcept {
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (rest_[i] == '"') {
      item = {.type = BareItem::Type::String, .text = rest_.substr(0, i)};
      rest_.remove_prefix(i + 1);
      return true;
    }
    const bool is_escape = rest_[i] == '\\';
    if (is_escape && ++i == rest_.size()) return false;
    if (is_escape ? rest_[i] != '"' && rest_[i] != '\\' : !is_printable(rest_[i])) return false;
  }
  return false;
}

// §4.2.6
bool StructuredScanner::read_token(BareItem& item) noexcept {
  const std::size_t size =
      count_while(rest_, [](char c) { return ascii::is_token(c) || c == ':' || c == '/'; });
  item = {.type = BareItem::Type::Token, .text = rest_.substr(0, size)};
  rest_.remove_prefix(size);
  return true;
}

// §4.2.7: padding may be missing, and must not be in the middle.
bool StructuredScanner::read_bytes(BareItem& item) noexcept {
  const std::size_t size = count_while(rest_, is_base64);
  const std::size_t padding = count_while(rest_.substr(size), [](char c) { return c == '='; });
  const bool has_length = size % 4 != 1 && (padding == 0 || (size + padding) % 4 == 0);
  if (!has_length || padding > 2) return false;
  item = {.type = BareItem::Type::Bytes, .text = rest_.substr(0, size)};
  rest_.remove_prefix(size + padding);
  return take(':');
}

// §4.2.10; that it is UTF-8 is checked when it is decoded.
bool StructuredScanner::read_display(BareItem& item) noexcept {
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (rest_[i] == '"') {
      item = {.type = BareItem::Type::Display, .text = rest_.substr(0, i)};
      rest_.remove_prefix(i + 1);
      return true;
    }
    if (!is_printable(rest_[i])) return false;
    if (rest_[i] != '%') continue;
    if (rest_.size() - i < 3 || !is_lower_hex(rest_[i + 1]) || !is_lower_hex(rest_[i + 2])) {
      return false;
    }
    i += 2;
  }
  return false;
}

}  // namespace skua::http
