// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <concepts>
#include <string_view>
#include <type_traits>

// Typical mistakes are taken by overloads of their own, templates that no valid call prefers: their
// static_assert says in one sentence what to write instead.

namespace skua::detail {

/// False, but only known once a template is instantiated.
template <class...>
inline constexpr bool never = false;

template <class T>
concept Number = std::is_arithmetic_v<std::remove_cvref_t<T>>;

// Conditions are variables where compilers would explain a concept in many lines.

template <class T>
inline constexpr bool is_not_text =
    Number<T> || (!std::convertible_to<const T&, std::string_view> && requires(const T& value) {
      { value.has_value() } -> std::same_as<bool>;
      { *value } -> std::convertible_to<std::string_view>;
    });
/// A number or an optional text where a text belongs.
template <class T>
concept NotText = is_not_text<T>;

template <class T>
constexpr void need_text() {
  static_assert(never<T>,
                "a value is text: write std::to_string(number), or optional.value_or(\"\")");
}

template <class T>
constexpr void need_status() {
  static_assert(never<T>,
                "a status is not a number: write skua::Status::NotFound, or "
                "skua::Status(404)");
}

template <class T>
constexpr void need_unit() {
  static_assert(never<T>,
                "a duration has a unit: write 5s or 50ms, after `using namespace skua::literals;`");
}

}  // namespace skua::detail
