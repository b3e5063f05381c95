// SPDX-License-Identifier: MIT
#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <bit>
#include <cstddef>

#include "base/compiler.hpp"
#include "base/scan/sse42.hpp"

// As in sse42.hpp: this region is compiled for AVX2.
SKUA_BEGIN_AVX2

/// Scanners that read thirty-two bytes at a time.
namespace skua::scan::avx2 {

inline __m256i load(const char* p) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

struct NotPlain : sse42::NotPlain {
  static unsigned find32(const char* p) noexcept {
    const __m256i above = _mm256_sub_epi8(load(p), _mm256_set1_epi8(-1));
    const __m256i plain = _mm256_cmpgt_epi8(above, _mm256_set1_epi8(0x20));
    return ~static_cast<unsigned>(_mm256_movemask_epi8(plain));
  }
};

inline __m256i twice(const std::array<std::uint8_t, 16>& table) noexcept {
  return _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(table.data())));
}

inline unsigned find32(const Nibbles& nibbles, const char* p) noexcept {
  const __m256i v = load(p);
  const __m256i low = _mm256_shuffle_epi8(twice(nibbles.low), v);
  const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0f));
  const __m256i high = _mm256_shuffle_epi8(twice(nibbles.high), upper);
  const __m256i bad = _mm256_cmpeq_epi8(_mm256_and_si256(low, high), _mm256_setzero_si256());
  return static_cast<unsigned>(_mm256_movemask_epi8(bad));
}

struct NoToken : sse42::NoToken {
  static unsigned find32(const char* p) noexcept { return avx2::find32(token_nibbles, p); }
};

struct NoTarget : sse42::NoTarget {
  static unsigned find32(const char* p) noexcept { return avx2::find32(target_nibbles, p); }
};

template <class Finder>
inline const char* find(const char* floor, const char* p, const char* end) noexcept {
  while (end - p >= 32) {
    const unsigned bad = Finder::find32(p);
    if (bad != 0) return p + std::countr_zero(bad);
    p += 32;
  }
  return sse42::find<Finder>(floor, p, end);
}

inline const char* token_end(const char* floor, const char* p, const char* end) noexcept {
  // Nearly all names end within sixteen bytes.
  if (end - p >= 16) {
    const unsigned bad = NoToken::find16(p);
    if (bad != 0) return p + std::countr_zero(bad);
    p += 16;
  }
  return find<NoToken>(floor, p, end);
}
inline const char* field_value_end(const char* floor, const char* p, const char* end) noexcept {
  return sse42::value_end(find<NotPlain>(floor, p, end), end);
}
inline const char* target_end(const char* floor, const char* p, const char* end) noexcept {
  return find<NoTarget>(floor, p, end);
}

inline std::uint32_t count(const char* floor, const char* p, const char* end,
                           char wanted) noexcept {
  int found = 0;
  for (; end - p >= 32; p += 32) {
    const __m256i equal = _mm256_cmpeq_epi8(load(p), _mm256_set1_epi8(wanted));
    found += std::popcount(static_cast<unsigned>(_mm256_movemask_epi8(equal)));
  }
  return static_cast<std::uint32_t>(found) + sse42::count(floor, p, end, wanted);
}

}  // namespace skua::scan::avx2

SKUA_END_TARGET

#endif  // __x86_64__
