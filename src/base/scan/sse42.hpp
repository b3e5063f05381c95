// SPDX-License-Identifier: MIT
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <bit>
#include <cstddef>

#include "base/compiler.hpp"
#include "base/scan/portable.hpp"

// This region is compiled for SSE4.2, and is only called if the machine has it.
SKUA_BEGIN_SSE42

/// Scanners that read sixteen bytes at a time.
namespace skua::scan::sse42 {

inline __m128i load(const char* p) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

/// Finds bytes other than 0x20 to 0x7e, of which alone nearly all field values consist: find16
/// returns a bit for each.
struct NotPlain {
  static unsigned find16(const char* p) noexcept {
    const __m128i above = _mm_sub_epi8(load(p), _mm_set1_epi8(-1));  // by 1; 0x7f turns negative
    const __m128i plain = _mm_cmpgt_epi8(above, _mm_set1_epi8(0x20));
    return static_cast<unsigned>(_mm_movemask_epi8(plain)) ^ 0xffffU;
  }
  static const char* find1(const char* p, const char* end) noexcept {
    return portable::find_by_table<ascii::FieldValue>(p, end);
  }
};

/// Continues after plain bytes. Tabs and bytes from 0x80 on are allowed, but rare.
[[gnu::noinline]] inline const char* rare_value_end(const char* p, const char* end) noexcept {
  return portable::find_by_table<ascii::FieldValue>(p, end);
}
inline const char* value_end(const char* plain_end, const char* end) noexcept {
  return plain_end == end || *plain_end == '\r' ? plain_end : rare_value_end(plain_end, end);
}

[[gnu::always_inline]] inline unsigned find16(const Nibbles& nibbles, const char* p) noexcept {
  const __m128i v = load(p);
  const __m128i low_table = _mm_load_si128(reinterpret_cast<const __m128i*>(nibbles.low.data()));
  const __m128i high_table = _mm_load_si128(reinterpret_cast<const __m128i*>(nibbles.high.data()));
  // A shuffle gives 0 for a byte with bit 7 set, so `low` needs no mask.
  const __m128i low = _mm_shuffle_epi8(low_table, v);
  const __m128i upper = _mm_and_si128(_mm_srli_epi16(v, 4), _mm_set1_epi8(0x0f));
  const __m128i high = _mm_shuffle_epi8(high_table, upper);
  const __m128i bad = _mm_cmpeq_epi8(_mm_and_si128(low, high), _mm_setzero_si128());
  return static_cast<unsigned>(_mm_movemask_epi8(bad));
}

struct NoToken {
  static unsigned find16(const char* p) noexcept { return sse42::find16(token_nibbles, p); }
  static const char* find1(const char* p, const char* end) noexcept {
    return portable::find_by_table<ascii::Token>(p, end);
  }
};

struct NoTarget {
  static unsigned find16(const char* p) noexcept { return sse42::find16(target_nibbles, p); }
  static const char* find1(const char* p, const char* end) noexcept {
    return portable::find_by_table<ascii::PathTarget>(p, end);
  }
};

/// Finds in the last bytes, at most 15: with a vector that ends with them, if `floor` permits it.
template <class Finder>
inline const char* find_in_rest(const char* floor, const char* p, const char* end) noexcept {
  if (end - floor < 16) return Finder::find1(p, end);
  if (p == end) return end;
  const unsigned bad = Finder::find16(end - 16) >> (16 - (end - p));
  return bad != 0 ? p + std::countr_zero(bad) : end;
}

template <class Finder>
inline const char* find(const char* floor, const char* p, const char* end) noexcept {
  while (end - p >= 16) {
    const unsigned bad = Finder::find16(p);
    if (bad != 0) return p + std::countr_zero(bad);
    p += 16;
  }
  return find_in_rest<Finder>(floor, p, end);
}

inline const char* token_end(const char* floor, const char* p, const char* end) noexcept {
  return find<NoToken>(floor, p, end);
}
inline const char* field_value_end(const char* floor, const char* p, const char* end) noexcept {
  return value_end(find<NotPlain>(floor, p, end), end);
}
inline const char* target_end(const char* floor, const char* p, const char* end) noexcept {
  return find<NoTarget>(floor, p, end);
}

inline unsigned equal16(const char* p, char wanted) noexcept {
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(load(p), _mm_set1_epi8(wanted))));
}

inline std::uint32_t count(const char* floor, const char* p, const char* end,
                           char wanted) noexcept {
  int found = 0;
  for (; end - p >= 16; p += 16) found += std::popcount(equal16(p, wanted));
  if (end - floor < 16) return portable::count(floor, p, end, wanted);
  if (p != end) found += std::popcount(equal16(end - 16, wanted) >> (16 - (end - p)));
  return static_cast<std::uint32_t>(found);
}

}  // namespace skua::scan::sse42

SKUA_END_TARGET

#endif  // __x86_64__
