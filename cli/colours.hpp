// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// Escape sequences that set the text colour of a terminal. ECMA-48 §8.3.117
namespace skua::cli::colours {

inline constexpr std::string_view red = "\x1b[31m";
inline constexpr std::string_view green = "\x1b[32m";
inline constexpr std::string_view yellow = "\x1b[33m";
inline constexpr std::string_view blue = "\x1b[34m";
inline constexpr std::string_view magenta = "\x1b[35m";
inline constexpr std::string_view cyan = "\x1b[36m";
inline constexpr std::string_view grey = "\x1b[90m";
inline constexpr std::string_view plain = "\x1b[0m";  ///< resets the colour

}  // namespace skua::cli::colours
