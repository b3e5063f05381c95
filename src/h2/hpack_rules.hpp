// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include "base/ascii.hpp"
#include "base/scan/portable.hpp"
#include "http/message/field.hpp"
#include "http/message/field_lookup.hpp"

namespace skua::h2 {

/// Pseudo-header fields; Unknown is any other name that begins with a colon. RFC 9113 §8.3,
/// 8441 §4
enum class Pseudo : std::uint8_t {
  None,
  Method,
  Scheme,
  Authority,
  Path,
  Status,
  Protocol,
  Unknown
};

/// A field decoded by HPACK.
///
/// Lifetime:  the texts are valid until the sink that received the field returns.
struct DecodedField {
  std::string_view name{};
  std::string_view value{};
  http::FieldName known = http::FieldName::Other;  ///< Other for a pseudo-header field
  Pseudo pseudo = Pseudo::None;
  /// Whether this field alone makes a message malformed: see hpack_rules.hpp. `host` follows the
  /// rules for requests. The reader checks which fields a message must or must not have.
  bool is_malformed = false;
};

}  // namespace skua::h2

/// Validity rules for a single field, regardless of other fields. They are checked only once for
/// an entry of a table. RFC 9113 §8.2, §8.3
namespace skua::h2::rules {

/// The properties of a name.
struct Name {
  http::FieldName known = http::FieldName::Other;
  Pseudo pseudo = Pseudo::None;
  bool is_malformed = false;
};

constexpr Pseudo find_pseudo(std::string_view name) noexcept {
  if (name == ":method") return Pseudo::Method;
  if (name == ":scheme") return Pseudo::Scheme;
  if (name == ":authority") return Pseudo::Authority;
  if (name == ":path") return Pseudo::Path;
  if (name == ":status") return Pseudo::Status;
  if (name == ":protocol") return Pseudo::Protocol;
  return Pseudo::Unknown;
}

/// Reports whether a name is a token without A-Z. RFC 9113 §8.2.1
constexpr bool is_lower_token(std::string_view name) noexcept {
  bool is_fine = !name.empty();
  for (const char c : name) is_fine &= ascii::is_token(c) && (c < 'A' || c > 'Z');
  return is_fine;
}

/// RFC 9113 §8.2.2
constexpr bool is_connection_specific(http::FieldName name) noexcept {
  switch (name) {
    case http::FieldName::Connection:
    case http::FieldName::KeepAlive:
    case http::FieldName::ProxyConnection:
    case http::FieldName::TransferEncoding:
    case http::FieldName::Upgrade: return true;
    default: return false;
  }
}

/// Looks up a name that is a token.
constexpr http::FieldName find_known(std::string_view name) noexcept {
  if (std::is_constant_evaluated()) {
    const auto* const found = std::ranges::find(http::lookup::names, name);
    if (found == std::end(http::lookup::names)) return http::FieldName::Other;
    return static_cast<http::FieldName>(found - std::begin(http::lookup::names) + 1);
  }
  if (name.size() > http::lookup::longest_bytes) return http::FieldName::Other;
  return http::lookup::find(name.data(), name.size(), http::lookup::first_word(name));
}

constexpr Name look_at(std::string_view name) noexcept {
  if (name.starts_with(':')) {
    const Pseudo pseudo = find_pseudo(name);
    return {.pseudo = pseudo, .is_malformed = pseudo == Pseudo::Unknown};
  }
  if (!is_lower_token(name)) return {.is_malformed = true};
  const http::FieldName known = find_known(name);
  return {.known = known, .is_malformed = is_connection_specific(known)};
}

/// Reports whether a value is a number that fits into a signed 64-bit integer.
constexpr bool is_length(std::string_view digits) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (!ascii::is_digit(c)) return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (most - digit) / 10) return false;
    number = number * 10 + digit;
  }
  return !digits.empty();
}

/// Three digits, except 101, which HTTP/2 does not use. RFC 9113 §8.6
constexpr bool is_status(std::string_view value) noexcept {
  return value.size() == 3 && std::ranges::all_of(value, ascii::is_digit) && value != "101";
}

/// RFC 3986 §3.1
constexpr bool is_scheme(std::string_view value) noexcept {
  const auto is_inside = [](char c) {
    return ascii::is(c, ascii::Alpha | ascii::Digit) || c == '+' || c == '-' || c == '.';
  };
  return !value.empty() && ascii::is_alpha(value[0]) && std::ranges::all_of(value, is_inside);
}

constexpr bool is_path_octet(char c) noexcept {
  return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
}

/// Reports whether eight octets are all path octets.
inline bool is_path_word(const char* text) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101;
  const std::uint64_t word = http::lookup::load(text);
  const std::uint64_t below = (word - ones * 0x21) & ~word;
  const std::uint64_t no_delete = word ^ (ones * 0x7f);
  const std::uint64_t is_delete = (no_delete - ones) & ~no_delete;
  return ((below | is_delete) & (ones * 0x80)) == 0;
}

/// Reports whether a value is non-empty and has no controls or white space.
constexpr bool is_path_text(std::string_view value) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (std::is_constant_evaluated() || value.size() < word) {
    return !value.empty() && std::ranges::all_of(value, is_path_octet);
  }
  const char* const last = value.data() + (value.size() - word);
  for (const char* at = value.data(); at < last; at += word) {
    if (!is_path_word(at)) return false;
  }
  return is_path_word(last);
}

/// Accepts the octets of RFC 3986 §3.2, in any order.
constexpr bool is_authority_text(std::string_view value) noexcept {
  const auto is_inside = [](char c) {
    return ascii::is(c, ascii::PathTarget) && c != '/' && c != '?' && c != '|';
  };
  return !value.empty() && std::ranges::all_of(value, is_inside);
}

/// Reports whether a value is valid for any field: no controls except HTAB, and no surrounding
/// white space. RFC 9113 §8.2.1
constexpr bool is_field_text(std::string_view value) noexcept {
  if (value.empty()) return true;
  if (ascii::is_ows(value.front()) || ascii::is_ows(value.back())) return false;
  if (std::is_constant_evaluated()) return std::ranges::all_of(value, ascii::is_field_value);
  const char* const end = value.data() + value.size();
  return scan::portable::field_value_end(value.data(), value.data(), end) == end;
}

/// Reports whether a value is valid for this name. Does not check the name itself.
constexpr bool is_value(const Name& name, std::string_view value) noexcept {
  switch (name.pseudo) {
    case Pseudo::None: break;
    case Pseudo::Method: return ascii::is_token_text(value);
    case Pseudo::Scheme: return is_scheme(value);
    case Pseudo::Authority: return is_authority_text(value);
    case Pseudo::Path: return is_path_text(value);
    case Pseudo::Status: return is_status(value);
    case Pseudo::Protocol: return !value.empty() && is_field_text(value);
    case Pseudo::Unknown: return is_field_text(value);
  }
  switch (name.known) {
    case http::FieldName::Host: return is_authority_text(value);
    case http::FieldName::ContentLength: return is_length(value);
    case http::FieldName::Te: return ascii::equals_ignoring_case(value, "trailers");
    default: return is_field_text(value);
  }
}

}  // namespace skua::h2::rules
