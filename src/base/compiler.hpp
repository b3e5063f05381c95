// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// The only header that uses extensions of GCC and Clang, each with a standard way beside it.

/// Between these two, functions are compiled for an instruction set that this machine may lack.
#define SKUA_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define SKUA_BEGIN_TARGET(features) \
  SKUA_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define SKUA_END_TARGET SKUA_PRAGMA(clang attribute pop)
#else
#define SKUA_BEGIN_TARGET(features) \
  SKUA_PRAGMA(GCC push_options)     \
  SKUA_PRAGMA(GCC target(features))
#define SKUA_END_TARGET SKUA_PRAGMA(GCC pop_options)
#endif
#define SKUA_BEGIN_SSE42 SKUA_BEGIN_TARGET("sse4.2,popcnt")
#define SKUA_BEGIN_AVX2 SKUA_BEGIN_TARGET("avx2,bmi,bmi2,popcnt")

namespace skua::compiler {

/// Sixteen bytes that are compared and combined one by one. A comparison sets all bits of the bytes
/// for which it holds.
class PlainBytes16 {
 public:
  PlainBytes16() = default;

  friend PlainBytes16 operator==(PlainBytes16 a, int b) noexcept {
    return a.each([b](std::uint8_t byte) { return byte == b ? 0xff : 0; });
  }
  friend PlainBytes16 operator<(PlainBytes16 a, int b) noexcept {
    return a.each([b](std::uint8_t byte) { return byte < b ? 0xff : 0; });
  }
  friend PlainBytes16 operator-(PlainBytes16 a, int b) noexcept {
    return a.each([b](std::uint8_t byte) { return byte - b; });
  }
  friend PlainBytes16 operator|(PlainBytes16 a, int b) noexcept {
    return a.each([b](std::uint8_t byte) { return byte | b; });
  }
  friend PlainBytes16 operator~(PlainBytes16 a) noexcept {
    return a.each([](std::uint8_t byte) { return ~byte; });
  }
  friend PlainBytes16 operator|(PlainBytes16 a, PlainBytes16 b) noexcept {
    for (std::size_t i = 0; i < 16; ++i) a.bytes_[i] |= b.bytes_[i];
    return a;
  }
  friend PlainBytes16 operator&(PlainBytes16 a, PlainBytes16 b) noexcept {
    for (std::size_t i = 0; i < 16; ++i) a.bytes_[i] &= b.bytes_[i];
    return a;
  }

 private:
  template <class Change>
  PlainBytes16 each(Change change) const noexcept {
    PlainBytes16 changed;
    for (std::size_t i = 0; i < 16; ++i) {
      changed.bytes_[i] = static_cast<std::uint8_t>(change(bytes_[i]));
    }
    return changed;
  }

  std::array<std::uint8_t, 16> bytes_;
};

/// PlainBytes16, in a vector register where the compiler knows them.
#if defined(__GNUC__)
using Bytes16 = std::uint8_t __attribute__((vector_size(16)));
#else
using Bytes16 = PlainBytes16;
#endif

inline Bytes16 load16(const char* from) noexcept {
  Bytes16 bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

/// Reports whether a mask, as comparisons make them, has any bit.
template <class Mask>
inline bool has_any(Mask mask) noexcept {
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(mask);
  return (halves[0] | halves[1]) != 0;
}

#if defined(__x86_64__)
/// Returns extended control register 0: the registers that the operating system saves.
/// Only if cpuid reports OSXSAVE.
inline std::uint32_t saved_registers() noexcept {
  std::uint32_t low = 0;   // NOLINT(misc-const-correctness): written by the instruction
  std::uint32_t high = 0;  // NOLINT(misc-const-correctness)
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#endif

}  // namespace skua::compiler
