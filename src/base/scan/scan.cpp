// SPDX-License-Identifier: MIT
// The scanners of every instruction set that this build has, as tables of functions. Code that
// scans a lot includes the header of one instruction set instead, so that its scanners are inlined.
#include "base/scan/scan.hpp"

#include "base/compiler.hpp"
#include "base/scan/avx2.hpp"
#include "base/scan/neon.hpp"
#include "base/scan/portable.hpp"
#include "base/scan/sse42.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace skua::scan {
namespace {

constexpr Scanner portable_scanner{portable::token_end, portable::field_value_end,
                                   portable::target_end};
#if defined(__x86_64__)
constexpr Scanner sse42_scanner{sse42::token_end, sse42::field_value_end, sse42::target_end};
constexpr Scanner avx2_scanner{avx2::token_end, avx2::field_value_end, avx2::target_end};

// Asks the processor directly: __builtin_cpu_supports knows every processor there is, which
// costs 5 kB.
bool has_sse42() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned wanted = bit_SSE4_2 | bit_POPCNT;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & wanted) == wanted;
}

// Intel's manual, volume 1, §14.3: AVX also needs the operating system to save its registers.
bool has_avx2() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned avx = bit_OSXSAVE | bit_AVX | bit_POPCNT;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & avx) != avx) return false;
  constexpr unsigned both_halves = 0b110;
  if ((compiler::saved_registers() & both_halves) != both_halves) return false;
  constexpr unsigned avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & avx2) == avx2;
}
#elif defined(__aarch64__)
constexpr Scanner neon_scanner{neon::token_end, neon::field_value_end, neon::target_end};
#endif

}  // namespace

bool is_supported(Isa isa) noexcept {
  switch (isa) {
    case Isa::Portable: return true;
#if defined(__x86_64__)
    case Isa::Sse42: return has_sse42();
    case Isa::Avx2: return has_avx2();
#elif defined(__aarch64__)
    case Isa::Neon: return true;
#endif
    default: return false;
  }
}

Isa best_isa() noexcept {
  // Once per process: under a hypervisor, every cpuid is a call to it.
  static const Isa best = [] {
    for (const Isa isa : {Isa::Avx2, Isa::Sse42, Isa::Neon}) {
      if (is_supported(isa)) return isa;
    }
    return Isa::Portable;
  }();
  return best;
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
