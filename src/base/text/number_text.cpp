// SPDX-License-Identifier: MIT
#include "base/text/number_text.hpp"

#include <array>
#include <charconv>

namespace skua::base {
namespace {

std::string formatted(double value, std::chars_format format, int precision) {
  std::array<char, 330> text;  // the longest double has 309 digits before the point
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return {text.data(), written.ptr};
}

}  // namespace

std::string fixed_text(double value, int decimals) {
  return formatted(value, std::chars_format::fixed, decimals);
}

std::string short_text(double value, int digits) {
  return formatted(value, std::chars_format::general, digits);
}

}  // namespace skua::base
