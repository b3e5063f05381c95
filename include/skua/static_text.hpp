// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <string_view>

namespace skua {

/// Text that lives as long as the program: made at compile time, from a string literal only.
///
/// A response made from one is sent without a copy: `return skua::StaticText("a long page")`.
class StaticText {
 public:
  template <std::size_t N>
  consteval StaticText(const char (&text)[N]) : text_(text, N - 1) {
    // Reading the array makes the compiler reject one that is not a constant.
    if (text[N - 1] != '\0') throw "StaticText needs a string literal";
  }

  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return text_.size(); }

 private:
  std::string_view text_;
};

}  // namespace skua
