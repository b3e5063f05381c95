// SPDX-License-Identifier: MIT
#pragma once

#if defined(__aarch64__)

#include <arm_neon.h>

#include <bit>
#include <cstdint>

#include "base/scan/portable.hpp"

/// Scanners that read sixteen bytes at a time; every aarch64 machine has NEON.
namespace skua::scan::neon {

inline uint8x16_t load(const char* p) noexcept {
  return vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
}

/// Reduces a comparison to four bits per byte.
inline std::uint64_t mask(uint8x16_t bad) noexcept {
  const uint8x8_t narrowed = vshrn_n_u16(vreinterpretq_u16_u8(bad), 4);
  return vget_lane_u64(vreinterpret_u64_u8(narrowed), 0);
}

struct NoFieldValue {
  static std::uint64_t find16(const char* p) noexcept {
    const uint8x16_t v = load(p);
    const uint8x16_t control = vcltq_u8(v, vdupq_n_u8(0x20));
    const uint8x16_t tab = vceqq_u8(v, vdupq_n_u8('\t'));
    return mask(vorrq_u8(vbicq_u8(control, tab), vceqq_u8(v, vdupq_n_u8(0x7f))));
  }
  static const char* find1(const char* p, const char* end) noexcept {
    return portable::find_by_table<ascii::FieldValue>(p, end);
  }
};

inline std::uint64_t find16(const Nibbles& nibbles, const char* p) noexcept {
  const uint8x16_t v = load(p);
  const uint8x16_t low = vqtbl1q_u8(vld1q_u8(nibbles.low.data()), vandq_u8(v, vdupq_n_u8(0x0f)));
  const uint8x16_t high = vqtbl1q_u8(vld1q_u8(nibbles.high.data()), vshrq_n_u8(v, 4));
  return mask(vceqzq_u8(vandq_u8(low, high)));
}

struct NoToken {
  static std::uint64_t find16(const char* p) noexcept { return neon::find16(token_nibbles, p); }
  static const char* find1(const char* p, const char* end) noexcept {
    return portable::find_by_table<ascii::Token>(p, end);
  }
};

struct NoTarget {
  static std::uint64_t find16(const char* p) noexcept { return neon::find16(target_nibbles, p); }
  static const char* find1(const char* p, const char* end) noexcept {
    return portable::find_by_table<ascii::PathTarget>(p, end);
  }
};

template <class Finder>
inline const char* find(const char* floor, const char* p, const char* end) noexcept {
  while (end - p >= 16) {
    const std::uint64_t bad = Finder::find16(p);
    if (bad != 0) return p + (std::countr_zero(bad) >> 2);
    p += 16;
  }
  if (end - floor < 16) return Finder::find1(p, end);
  if (p == end) return end;
  const std::uint64_t bad = Finder::find16(end - 16) >> (4 * (16 - (end - p)));
  return bad != 0 ? p + (std::countr_zero(bad) >> 2) : end;
}

inline const char* token_end(const char* floor, const char* p, const char* end) noexcept {
  return find<NoToken>(floor, p, end);
}
inline const char* field_value_end(const char* floor, const char* p, const char* end) noexcept {
  return find<NoFieldValue>(floor, p, end);
}
inline const char* target_end(const char* floor, const char* p, const char* end) noexcept {
  return find<NoTarget>(floor, p, end);
}

using portable::count;

}  // namespace skua::scan::neon

#endif  // __aarch64__
