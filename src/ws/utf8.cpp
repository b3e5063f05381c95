// SPDX-License-Identifier: MIT
// Pieces of text in, whether they are UTF-8 out. Only the second byte of a sequence has a range of
// its own, which its first byte decides: RFC 3629 §4 as three small numbers. ASCII is passed over
// by the word.
#include "ws/utf8.hpp"

#include <cstddef>
#include <cstring>

namespace skua::ws {
namespace {

constexpr std::uint64_t high_bits = 0x8080808080808080;

// The first byte that is not ASCII, or within the last words a place before it.
const char* skip_ascii_words(const char* p, const char* end) noexcept {
  std::uint64_t words[4];
  while (static_cast<std::size_t>(end - p) >= sizeof words) {
    std::memcpy(words, p, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & high_bits) != 0) break;
    p += sizeof words;
  }
  while (static_cast<std::size_t>(end - p) >= sizeof *words) {
    std::memcpy(words, p, sizeof *words);
    if ((words[0] & high_bits) != 0) break;
    p += sizeof *words;
  }
  return p;
}

}  // namespace

bool Utf8Validator::begin_sequence(unsigned char lead) noexcept {
  if (lead < 0xc2 || lead > 0xf4) return false;  // a continuation; overlong; above U+10FFFF
  missing_ = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  lowest_ = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;   // below: overlong
  highest_ = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;  // above: surrogates; U+110000
  return true;
}

bool Utf8Validator::feed(std::string_view text) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p != end) {
    const auto byte = static_cast<unsigned char>(*p);
    if (missing_ != 0) {
      if (byte < lowest_ || byte > highest_) return false;
      lowest_ = 0x80;
      highest_ = 0xbf;
      --missing_;
      ++p;
    } else if (byte < 0x80) {
      const char* const next = skip_ascii_words(p, end);
      p = next == p ? p + 1 : next;
    } else {
      if (!begin_sequence(byte)) return false;
      ++p;
    }
  }
  return true;
}

}  // namespace skua::ws
