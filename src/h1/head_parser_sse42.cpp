// SPDX-License-Identifier: MIT
// The head parser compiled for SSE4.2; called only if the CPU supports it.
#if defined(__x86_64__)

#include "base/scan_sse42.hpp"
#include "h1/head_parser_run.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse4.2,popcnt")
#endif

#define SKUA_ISA sse42
#include "h1/head_parser_core.hpp"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
