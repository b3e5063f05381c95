// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::resp {

/// Parses a whole text as an integer: a sign, which may be missing, and digits.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
/// Parses a whole text as a double: a decimal number with or without an exponent, `inf`, `-inf` or
/// `nan`. Never depends on the locale.
std::optional<double> parse_double(std::string_view text) noexcept;
/// Reports whether a text is a sign, which may be missing, and digits.
bool is_big_number(std::string_view text) noexcept;
/// Returns the shortest text that parse_double() reads as the same number.
std::string double_text(double number);

}  // namespace skua::resp
