// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ascii.hpp"

/// Percent-encoding, and which octets need no encoding in which part of a URI.
namespace skua::percent {

/// Parts of a URI, as bits: where an octet may stand unencoded. RFC 3986 §2, §3
enum Part : std::uint8_t {
  Unreserved = 1,
  RegName = 2,  ///< unreserved and sub-delims: also a userinfo without ':'
  Userinfo = 4,
  Segment = 8,  ///< pchar
  Path = 16,
  Query = 32,  ///< also a fragment
  Form = 64,   ///< application/x-www-form-urlencoded. WHATWG URL §5.2
};

namespace detail {

constexpr std::uint8_t classify(unsigned char octet) {
  const char c = static_cast<char>(octet);
  const auto in = [c](std::string_view set) { return set.find(c) != set.npos; };
  const bool letter_or_digit = ascii::is_alpha(c) || ascii::is_digit(c);
  const bool unreserved = letter_or_digit || in("-._~");
  const bool reg_name = unreserved || in("!$&'()*+,;=");
  const bool segment = reg_name || in(":@");
  unsigned bits = 0;
  if (unreserved) bits |= Unreserved;
  if (reg_name) bits |= RegName;
  if (reg_name || c == ':') bits |= Userinfo;
  if (segment) bits |= Segment;
  if (segment || c == '/') bits |= Path;
  if (segment || in("/?")) bits |= Query;
  if (letter_or_digit || in("*-._")) bits |= Form;
  return static_cast<std::uint8_t>(bits);
}

constexpr std::array<std::uint8_t, 256> make_parts() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) table[c] = classify(static_cast<unsigned char>(c));
  return table;
}

}  // namespace detail

inline constexpr std::array<std::uint8_t, 256> parts = detail::make_parts();

constexpr bool is(char c, Part part) noexcept {
  return (parts[static_cast<unsigned char>(c)] & part) != 0;
}

inline constexpr std::size_t triplet_bytes = 3;

/// Reports whether a text begins with a triplet like `%41`: '%' and two hexadecimal digits.
constexpr bool has_triplet(std::string_view text) noexcept {
  return text.size() >= triplet_bytes && text[0] == '%' && ascii::is_hex(text[1]) &&
         ascii::is_hex(text[2]);
}

/// Returns the octet that the triplet at the start of a text stands for.
constexpr char triplet_octet(std::string_view text) noexcept {
  return static_cast<char>(ascii::hex_value(text[1]) << 4U | ascii::hex_value(text[2]));
}

/// Appends the triplet of an octet, with upper-case digits. RFC 3986 §2.1
inline void append_triplet(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto octet = static_cast<unsigned char>(c);
  out += '%';
  out += digits[octet >> 4U];
  out += digits[octet & 15U];
}

/// Appends a text, with a triplet for each octet for which `stays` returns false.
template <class Stays>
void append(std::string& out, std::string_view text, Stays stays) {
  for (const char c : text) {
    if (stays(c)) {
      out += c;
    } else {
      append_triplet(out, c);
    }
  }
}

static_assert(is('~', Unreserved) && !is('/', Segment) && is('/', Path) && is('?', Query));
static_assert(!is('%', Query) && !is('#', Query) && !is('[', Query) && !is('\x80', Query));
static_assert(has_triplet("%4a") && !has_triplet("%4") && !has_triplet("%4g"));
static_assert(triplet_octet("%4a") == 'J' && triplet_octet("%fF") == '\xff');

}  // namespace skua::percent
