// SPDX-License-Identifier: MIT
// The head parser compiled with NEON, which every aarch64 machine has.
#if defined(__aarch64__)

#include "base/scan_neon.hpp"
#include "h1/head_parser_run.hpp"

#define SKUA_ISA neon
#include "h1/head_parser_core.hpp"

#endif  // __aarch64__
