// SPDX-License-Identifier: MIT
// In: the texts of numbers. Out: numbers, and the other way round.
#include "resp/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <system_error>
#include <version>

#include "base/ascii.hpp"

namespace skua::resp {
namespace {

std::size_t count_digits(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && ascii::is_digit(text[count])) ++count;
  return count;
}

// [<+|->]<integral>[.<fractional>][<E|e>[sign]<exponent>]
bool is_decimal(std::string_view text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t whole = count_digits(text);
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    fraction = count_digits(text.substr(1));
    if (fraction == 0) return false;
    text.remove_prefix(1 + fraction);
  }
  if (whole + fraction == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && count_digits(text) == text.size();
}

}  // namespace

bool is_big_number(std::string_view text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && count_digits(text) == text.size();
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (!is_big_number(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) noexcept {
  using Limits = std::numeric_limits<double>;
  if (text == "inf") return Limits::infinity();
  if (text == "-inf") return -Limits::infinity();
  if (text == "nan" || text == "-nan") return Limits::quiet_NaN();
  if (text.size() > 400 || !is_decimal(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
#else
  // libc++ has no from_chars() for double, and strtod() expects the locale's decimal point.
  std::array<char, 401> room{};
  text.copy(room.data(), text.size());
  std::ranges::replace(room, '.', *std::localeconv()->decimal_point);
  return std::strtod(room.data(), nullptr);  // locale: see above
#endif
}

std::string double_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 32> room{};
  const auto [end, error] = std::to_chars(room.data(), room.data() + room.size(), number);
  return {room.data(), end};
}

}  // namespace skua::resp
