// SPDX-License-Identifier: MIT
// The scanners of every instruction set that this build has, as tables of functions. Code that
// scans a lot includes the header of one instruction set instead, so that its scanners are inlined.
#include "base/scan.hpp"

#include "base/scan_avx2.hpp"
#include "base/scan_neon.hpp"
#include "base/scan_portable.hpp"
#include "base/scan_sse42.hpp"

namespace skua::scan {
namespace {

constexpr Scanner portable_scanner{portable::token_end, portable::field_value_end,
                                   portable::target_end};
#if defined(__x86_64__)
constexpr Scanner sse42_scanner{sse42::token_end, sse42::field_value_end, sse42::target_end};
constexpr Scanner avx2_scanner{avx2::token_end, avx2::field_value_end, avx2::target_end};
#elif defined(__aarch64__)
constexpr Scanner neon_scanner{neon::token_end, neon::field_value_end, neon::target_end};
#endif

}  // namespace

bool is_supported(Isa isa) noexcept {
  switch (isa) {
    case Isa::Portable: return true;
#if defined(__x86_64__)
    // The operating system's part (saving the upper halves of registers) is asked for as well.
    case Isa::Sse42: return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    case Isa::Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2");
#elif defined(__aarch64__)
    case Isa::Neon: return true;
#endif
    default: return false;
  }
}

Isa best_isa() noexcept {
  for (const Isa isa : {Isa::Avx2, Isa::Sse42, Isa::Neon}) {
    if (is_supported(isa)) return isa;
  }
  return Isa::Portable;
}

const Scanner& scanner(Isa isa) noexcept {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::Sse42: return sse42_scanner;
    case Isa::Avx2: return avx2_scanner;
#elif defined(__aarch64__)
    case Isa::Neon: return neon_scanner;
#endif
    default: return portable_scanner;
  }
}

}  // namespace skua::scan
