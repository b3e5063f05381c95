// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace skua::scan {

/// The instruction sets that scanners are written for.
enum class Isa : std::uint8_t { Portable, Sse42, Avx2, Neon };

/// Returns the first byte of [p, end) that is not in a class, or end.
///
/// Reads nothing outside [floor, end), where `floor <= p`. So a short rest can be checked with
/// one vector that begins before p.
using Find = const char* (*)(const char* floor, const char* p, const char* end) noexcept;

/// The scanners of one instruction set.
struct Scanner {
  Find token_end;        ///< first byte that is not a tchar
  Find field_value_end;  ///< first byte that is not allowed in a field value
  Find target_end;       ///< first byte that is not ascii::PathTarget
};

/// Reports whether this machine, and this build, have it.
bool is_supported(Isa isa) noexcept;

/// Returns the fastest supported instruction set.
Isa best_isa() noexcept;

/// Returns the scanners of a supported instruction set.
const Scanner& scanner(Isa isa) noexcept;

}  // namespace skua::scan
