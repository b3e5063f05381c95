// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/byte_order.hpp"
#include "http/message/field.hpp"

/// The known field names and their perfect hash, inline for the head parser.
namespace skua::http::lookup {

/// In the order of FieldName, starting at FieldName(1).
inline constexpr std::string_view names[] = {"accept",
                                             "accept-encoding",
                                             "accept-language",
                                             "authorization",
                                             "cache-control",
                                             "connection",
                                             "content-encoding",
                                             "content-length",
                                             "content-type",
                                             "cookie",
                                             "date",
                                             "expect",
                                             "forwarded",
                                             "host",
                                             "if-match",
                                             "if-modified-since",
                                             "if-none-match",
                                             "if-range",
                                             "if-unmodified-since",
                                             "keep-alive",
                                             "origin",
                                             "pragma",
                                             "proxy-authorization",
                                             "proxy-connection",
                                             "range",
                                             "referer",
                                             "sec-fetch-site",
                                             "sec-websocket-extensions",
                                             "sec-websocket-key",
                                             "sec-websocket-protocol",
                                             "sec-websocket-version",
                                             "te",
                                             "trailer",
                                             "transfer-encoding",
                                             "upgrade",
                                             "user-agent",
                                             "via",
                                             "x-forwarded-for",
                                             "x-request-id",
                                             "age",
                                             "allow",
                                             "etag",
                                             "expires",
                                             "last-modified",
                                             "location",
                                             "retry-after",
                                             "server",
                                             "set-cookie",
                                             "vary",
                                             "www-authenticate",
                                             "proxy-authenticate",
                                             "accept-ranges",
                                             "content-range"};
inline constexpr std::size_t name_count = std::size(names);
static_assert(name_count == static_cast<std::size_t>(FieldName::ContentRange));
static_assert(name_count < 64, "a set of names must fit in a 64-bit word");

inline constexpr std::size_t longest_bytes = 24;
inline constexpr std::uint64_t case_bits = 0x2020202020202020;

/// A name in lower case, padded for comparison in words.
struct Entry {
  std::array<char, longest_bytes> text{};
  std::uint8_t size_bytes = 0;
};

/// A perfect hash: no two known names share both their first eight bytes and their length. The
/// factor was found by search, and make_slots() proves that there are no collisions.
constexpr std::size_t slot_of(std::uint64_t first_word, std::size_t size_bytes) noexcept {
  return static_cast<std::size_t>((((first_word | case_bits) + size_bytes) * 0xa2f81a9bab6aa41d) >>
                                  57);
}

constexpr std::uint64_t first_word(std::string_view name) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < name.size() && i < 8; ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i])) << (8 * i);
  }
  return word;
}

consteval std::array<Entry, name_count + 1> make_entries() {
  std::array<Entry, name_count + 1> entries{};
  for (std::size_t i = 0; i < name_count; ++i) {
    for (std::size_t k = 0; k < names[i].size(); ++k) entries[i + 1].text[k] = names[i][k];
    entries[i + 1].size_bytes = static_cast<std::uint8_t>(names[i].size());
  }
  return entries;
}

consteval std::array<std::uint8_t, 128> make_slots() {
  std::array<std::uint8_t, 128> slots{};
  for (std::size_t i = 0; i < name_count; ++i) {
    std::uint8_t& slot = slots[slot_of(first_word(names[i]), names[i].size())];
    if (slot != 0) throw "two names in one slot";
    slot = static_cast<std::uint8_t>(i + 1);
  }
  return slots;
}

inline constexpr std::array<Entry, name_count + 1> entries = make_entries();
inline constexpr std::array<std::uint8_t, 128> slots = make_slots();

constexpr bool has_letters_and_dashes(std::string_view name) noexcept {
  for (const char c : name) {
    if (c != '-' && (c < 'a' || c > 'z')) return false;
  }
  return true;
}
static_assert(std::all_of(std::begin(names), std::end(names), has_letters_and_dashes));

/// Loads eight bytes as a little-endian word on any machine.
inline std::uint64_t load(const char* p) noexcept {
  return byte_order::load<std::uint64_t, std::endian::little>(p);
}

/// Reports whether eight bytes are equal except for bit 5, which is the letter case in tokens.
inline bool same(const char* a, const char* b) noexcept {
  return ((load(a) ^ load(b)) & ~case_bits) == 0;
}

/// Finds the name in [p, p + size_bytes), which must be a token. `word` holds its first eight
/// bytes as a little-endian word, padded with zeros if the name is shorter.
inline FieldName find(const char* p, std::size_t size_bytes, std::uint64_t word) noexcept {
  const std::uint8_t index = slots[slot_of(word, size_bytes)];
  const Entry& entry = entries.data()[index];  // the slots are checked at compile time
  if (entry.size_bytes != size_bytes) return FieldName::Other;
  if (((word ^ load(entry.text.data())) & ~case_bits) != 0) return FieldName::Other;
  if (size_bytes > 8) {
    // Overlapping words: nothing is read outside the name.
    const std::size_t last = size_bytes - 8;
    if (!same(p + last, entry.text.data() + last)) return FieldName::Other;
    if (size_bytes > 16 && !same(p + 8, entry.text.data() + 8)) return FieldName::Other;
  }
  return static_cast<FieldName>(index);
}

}  // namespace skua::http::lookup
