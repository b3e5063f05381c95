// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "skua/config.hpp"

namespace skua {

namespace detail {
// Parse the whole text as one decimal number: no sign but '-', no blanks.
SKUA_API std::optional<std::int64_t> parse_signed(std::string_view text) noexcept;
SKUA_API std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;
SKUA_API std::optional<double> parse_double(std::string_view text) noexcept;
}  // namespace detail

/// Parses a path parameter into a handler's argument; nullopt is answered with 404.
///
/// Specialize it for your own types: `static std::optional<T> parse(std::string_view text)`.
template <class T>
struct PathParameter;

template <class T>
  requires(std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>)
struct PathParameter<T> {
  static std::optional<T> parse(std::string_view text) noexcept {
    if constexpr (std::signed_integral<T>) {
      const auto value = detail::parse_signed(text);
      if (!value || *value < std::numeric_limits<T>::min() ||
          *value > std::numeric_limits<T>::max())
        return {};
      return static_cast<T>(*value);
    } else {
      const auto value = detail::parse_unsigned(text);
      if (!value || *value > std::numeric_limits<T>::max()) return {};
      return static_cast<T>(*value);
    }
  }
};

/// `true` or `false`.
template <>
struct PathParameter<bool> {
  static std::optional<bool> parse(std::string_view text) noexcept {
    if (text == "true") return true;
    if (text == "false") return false;
    return {};
  }
};

/// A finite decimal number.
template <std::floating_point T>
struct PathParameter<T> {
  static std::optional<T> parse(std::string_view text) noexcept {
    const auto value = detail::parse_double(text);
    if (!value) return {};
    return static_cast<T>(*value);
  }
};

template <>
struct PathParameter<std::string> {
  static std::optional<std::string> parse(std::string_view text) { return std::string(text); }
};

/// A view into the request's path.
template <>
struct PathParameter<std::string_view> {
  static std::optional<std::string_view> parse(std::string_view text) noexcept { return text; }
};

}  // namespace skua
