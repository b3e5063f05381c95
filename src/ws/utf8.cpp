// SPDX-License-Identifier: MIT
// In: pieces of text. Out: whether they are UTF-8. Only the second byte of a sequence has a special
// range, which depends on the first, so three small numbers express RFC 3629 §4. ASCII is skipped
// word by word.
#include "ws/utf8.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace skua::ws {
namespace {

constexpr std::uint64_t high_bits = 0x8080808080808080;

// The bytes that must follow a lead byte: their number, and the range of the first one.
struct Sequence {
  std::uint8_t missing = 0;
  std::uint8_t lowest = 0x80;
  std::uint8_t highest = 0xbf;
};

constexpr Sequence sequence_of(unsigned lead) {
  Sequence sequence;
  if (lead < 0xc2 || lead > 0xf4) return sequence;  // a continuation; overlong; above U+10FFFF
  sequence.missing = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  if (lead == 0xe0) sequence.lowest = 0xa0;   // below: overlong
  if (lead == 0xf0) sequence.lowest = 0x90;   // below: overlong
  if (lead == 0xed) sequence.highest = 0x9f;  // above: surrogates
  if (lead == 0xf4) sequence.highest = 0x8f;  // above: U+110000
  return sequence;
}

constexpr std::array<Sequence, 256> make_sequences() {
  std::array<Sequence, 256> table{};
  for (unsigned lead = 0; lead < table.size(); ++lead) table[lead] = sequence_of(lead);
  return table;
}

constexpr std::array<Sequence, 256> sequences = make_sequences();

std::uint64_t high_bits_of(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word & high_bits;
}

bool is_ascii_block(const char* p) noexcept {
  return (high_bits_of(p) | high_bits_of(p + 8) | high_bits_of(p + 16) | high_bits_of(p + 24)) == 0;
}

// Returns the first byte that is not ASCII.
const char* skip_ascii(const char* p, const char* end) noexcept {
  while (end - p >= 8) {
    if (const std::uint64_t high = high_bits_of(p); high != 0) {
      const int bits = std::endian::native == std::endian::little ? std::countr_zero(high)
                                                                  : std::countl_zero(high);
      return p + bits / 8;
    }
    p += 8;
    while (end - p >= 32 && is_ascii_block(p)) p += 32;
  }
  while (p != end && static_cast<unsigned char>(*p) < 0x80) ++p;
  return p;
}

// Reports whether the bytes after a lead are valid. All of them must be present.
bool is_whole(const char* lead, const Sequence& sequence) noexcept {
  const auto second = static_cast<unsigned char>(lead[1]);
  if (second < sequence.lowest || second > sequence.highest) return false;
  for (unsigned i = 2; i <= sequence.missing; ++i) {
    if ((static_cast<unsigned char>(lead[i]) & 0xc0U) != 0x80U) return false;
  }
  return true;
}

}  // namespace

bool Utf8Validator::feed(std::string_view text) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const auto byte = static_cast<unsigned char>(*p);
    if (missing_ != 0) {  // the sequence is split between pieces
      if (byte < lowest_ || byte > highest_) return false;
      lowest_ = 0x80;
      highest_ = 0xbf;
      --missing_;
      ++p;
    } else if (byte < 0x80) {
      p = skip_ascii(p, end);
    } else {
      const Sequence& sequence = sequences[byte];
      if (sequence.missing == 0) return false;
      if (end - p > sequence.missing) {
        if (!is_whole(p, sequence)) return false;
        p += sequence.missing + 1;
      } else {
        missing_ = sequence.missing;
        lowest_ = sequence.lowest;
        highest_ = sequence.highest;
        ++p;
      }
    }
  }
  return true;
}

}  // namespace skua::ws
