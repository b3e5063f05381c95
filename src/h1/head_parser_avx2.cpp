// SPDX-License-Identifier: MIT
// The head parser compiled for AVX2; called only if the CPU supports it.
#if defined(__x86_64__)

#include "base/scan_avx2.hpp"
#include "h1/head_parser_run.hpp"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

#define SKUA_ISA avx2
#include "h1/head_parser_core.hpp"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
