// SPDX-License-Identifier: MIT
// In: a path segment. Out: the number that it spells, or nullopt if anything else is in it.
#include "skua/path_parameter.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace skua::detail {
namespace {

template <class T>
std::optional<T> parse(std::string_view text) noexcept {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_signed(std::string_view text) noexcept {
  return parse<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept {
  return parse<std::uint64_t>(text);
}

std::optional<double> parse_double(std::string_view text) noexcept {
  const auto value = parse<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace skua::detail
