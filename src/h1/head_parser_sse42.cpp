// SPDX-License-Identifier: MIT
// The head parser compiled for SSE4.2; called only if the CPU supports it.
#if defined(__x86_64__)

#include "base/compiler.hpp"
#include "base/scan/sse42.hpp"
#include "h1/head_parser_run.hpp"

SKUA_BEGIN_SSE42

#define SKUA_ISA sse42
#include "h1/head_parser_core.hpp"

SKUA_END_TARGET

#endif  // __x86_64__
