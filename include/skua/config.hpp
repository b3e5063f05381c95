// SPDX-License-Identifier: MIT
#pragma once

/// A parameter whose referent has to outlive the returned object; compilers that know the attribute
/// warn.
#if defined(__clang__)
#define SKUA_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define SKUA_LIFETIMEBOUND
#endif

/// What happens seldom, and is compiled to be small.
#if defined(__GNUC__)
#define SKUA_COLD [[gnu::cold]]
#else
#define SKUA_COLD
#endif

/// A bug of ours if it does not hold: checked in every build but Release.
#if defined(NDEBUG)
#define SKUA_ASSERT(condition) static_cast<void>(0)
#else
#include <cstdlib>
#define SKUA_ASSERT(condition) ((condition) ? static_cast<void>(0) : std::abort())
#endif
