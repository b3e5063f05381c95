// SPDX-License-Identifier: MIT
// The head parser for CPUs without vector instructions that we know. Elsewhere it is compiled for
// size, as next to nothing lacks them.
#include "base/scan/portable.hpp"
#include "h1/head_parser_run.hpp"

#define SKUA_ISA portable
#include "h1/head_parser_core.hpp"
