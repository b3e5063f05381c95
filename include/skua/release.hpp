// SPDX-License-Identifier: MIT
#pragma once

#if __cplusplus < 202002L
#error skua needs C++20: compile with -std=c++20 or newer
#endif

/// The release of these headers as a number, `major * 10000 + minor * 100 + patch`:
/// `#if SKUA_VERSION >= 200` means 0.2 or newer.
#define SKUA_VERSION 100
/// The release as text.
#define SKUA_VERSION_TEXT "0.1.0"
