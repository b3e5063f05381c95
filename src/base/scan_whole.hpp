// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/ascii.hpp"

/// Checks whether a whole short text is in a class, with the vectors that every processor has.
namespace skua::scan {
namespace whole {

using Bytes = std::uint8_t __attribute__((vector_size(16)));
using Words = std::uint64_t __attribute__((vector_size(16)));

inline std::uint64_t load_word(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

inline Bytes load(const char* p) noexcept {
  Bytes bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

inline bool has_any(Bytes mask) noexcept {
  const auto words = reinterpret_cast<Words>(mask);
  return (words[0] | words[1]) != 0;
}

/// A mask of the bytes that are not allowed in a field value, and of HTAB.
struct Control {
  Bytes operator()(Bytes bytes) const noexcept {
    return reinterpret_cast<Bytes>((bytes < 0x20) | (bytes == 0x7f));
  }
};

/// A mask of all bytes but letters, digits and `-`.
struct Unusual {
  Bytes operator()(Bytes bytes) const noexcept {
    const Bytes lower = bytes | 0x20;
    return reinterpret_cast<Bytes>(~((lower - 'a' < 26) | (bytes - '0' < 10) | (bytes == '-')));
  }
};

/// Reports whether a text of at least eight bytes has no byte that `find` finds.
template <class Find>
inline bool has_none(std::string_view text, Find find) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  // The last load overlaps the one before, so that no byte is left over.
  if (text.size() < 16) {
    return !has_any(find(reinterpret_cast<Bytes>(Words{load_word(p), load_word(end - 8)})));
  }
  Bytes found = find(load(end - 16));
  for (; end - p > 16; p += 16) found |= find(load(p));
  return !has_any(found);
}

}  // namespace whole

/// Reports whether a text is a valid field value. RFC 9110 §5.5
inline bool is_field_value(std::string_view text) noexcept {
  if (text.size() >= 8 && whole::has_none(text, whole::Control())) [[likely]]
    return true;
  for (const char c : text) {
    if (!ascii::is_field_value(c)) return false;
  }
  return true;
}

/// Like ascii::is_token_text(), but faster for names that are longer than a few bytes.
inline bool is_token_text(std::string_view text) noexcept {
  if (text.size() >= 8 && whole::has_none(text, whole::Unusual())) [[likely]]
    return true;
  return ascii::is_token_text(text);
}

}  // namespace skua::scan
