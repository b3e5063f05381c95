// SPDX-License-Identifier: MIT
// The head parser compiled for NEON, which every aarch64 CPU supports.
#if defined(__aarch64__)

#include "base/scan/neon.hpp"
#include "h1/head_parser_run.hpp"

#define SKUA_ISA neon
#include "h1/head_parser_core.hpp"

#endif  // __aarch64__
