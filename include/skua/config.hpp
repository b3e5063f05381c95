// SPDX-License-Identifier: MIT
#pragma once

/// Marks a parameter that must outlive the returned object; compilers that know the attribute warn.
#if defined(__clang__)
#define SKUA_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define SKUA_LIFETIMEBOUND
#endif

/// Marks code that rarely runs, which is compiled for size.
#if defined(__GNUC__)
#define SKUA_COLD [[gnu::cold]]
#else
#define SKUA_COLD
#endif

/// Asserts an invariant of skua itself; checked in every build but Release.
#if defined(NDEBUG)
#define SKUA_ASSERT(condition) static_cast<void>(0)
#else
#include <cstdlib>
#define SKUA_ASSERT(condition) ((condition) ? static_cast<void>(0) : std::abort())
#endif
