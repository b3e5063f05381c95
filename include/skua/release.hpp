// SPDX-License-Identifier: MIT
#pragma once

#if __cplusplus < 202002L
#error skua needs C++20: compile with -std=c++20 or newer
#endif

#include <string_view>

#include "skua/config.hpp"

/// The release of these headers as a number, `major * 10000 + minor * 100 + patch`:
/// `#if SKUA_VERSION >= 200` means 0.2 or newer.
#define SKUA_VERSION 100
/// The release as text.
#define SKUA_VERSION_TEXT "0.1.0"

namespace skua {

/// Returns the release of the library that the program runs with, such as `0.1.0`. A shared library
/// may be newer than the headers that the program was compiled with.
SKUA_API std::string_view library_version() noexcept;

}  // namespace skua
