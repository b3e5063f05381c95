// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace skua {

/// Text that lives as long as the program: made of string literals only, when the program is
/// compiled.
///
/// A response made of one is sent without a copy: `return skua::StaticText("a long page")`.
class StaticText {
 public:
  template <std::size_t N>
  consteval StaticText(const char (&text)[N]) : text_(text, N - 1) {
    // Reading the array makes the compiler refuse one that can change or go away.
    if (text[N - 1] != '\0') throw "StaticText is made of a string literal";
  }

  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return text_.size(); }

 private:
  std::string_view text_;
};

}  // namespace skua
