// SPDX-License-Identifier: MIT
#pragma once

/// Marks what a shared library exports; hides the rest of skua. Programs that use the static
/// library define SKUA_STATIC, as the CMake target and `pkg-config --static` do: needed on Windows
/// only.
#if defined(SKUA_STATIC)
#define SKUA_API
#elif !defined(_WIN32)
#define SKUA_API __attribute__((visibility("default")))
#elif defined(SKUA_BUILDING)
#define SKUA_API __declspec(dllexport)
#else
#define SKUA_API __declspec(dllimport)
#endif

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
