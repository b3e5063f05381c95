// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace skua::ws {

/// Checks UTF-8 that comes in pieces.
///
/// RFC:       3629 §4
class Utf8Validator {
 public:
  /// Whether all that came may still become UTF-8. False at the first byte that cannot: overlong
  /// forms, surrogates and what is above U+10FFFF are told by their second byte. After that only
  /// reset() helps.
  bool feed(std::string_view text) noexcept;
  /// Whether no sequence is unfinished.
  [[nodiscard]] bool is_complete() const noexcept { return missing_ == 0; }
  void reset() noexcept { *this = {}; }

 private:
  // Of the sequence that is unfinished: how many bytes it wants, and from where to where the next.
  std::uint8_t missing_ = 0;
  std::uint8_t lowest_ = 0x80;
  std::uint8_t highest_ = 0xbf;
};

/// Whether a whole text is UTF-8.
inline bool is_utf8(std::string_view text) noexcept {
  Utf8Validator validator;
  return validator.feed(text) && validator.is_complete();
}

}  // namespace skua::ws
