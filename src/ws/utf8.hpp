// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace skua::ws {

/// A validator for UTF-8 that arrives in pieces.
///
/// RFC:       3629 §4
class Utf8Validator {
 public:
  /// Reports whether the text so far can still be valid UTF-8. Returns false at the first invalid
  /// byte: overlong forms, surrogates and values above U+10FFFF fail by their second byte. After
  /// that, call reset() first.
  bool feed(std::string_view text) noexcept;
  /// Reports whether the text does not end inside a sequence.
  [[nodiscard]] bool is_complete() const noexcept { return missing_ == 0; }
  void reset() noexcept { *this = {}; }

 private:
  // The unfinished sequence: the number of missing bytes, and the range of the next one.
  std::uint8_t missing_ = 0;
  std::uint8_t lowest_ = 0x80;
  std::uint8_t highest_ = 0xbf;
};

/// Reports whether a complete text is UTF-8.
inline bool is_utf8(std::string_view text) noexcept {
  Utf8Validator validator;
  return validator.feed(text) && validator.is_complete();
}

}  // namespace skua::ws
