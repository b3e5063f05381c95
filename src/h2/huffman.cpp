// SPDX-License-Identifier: MIT
// In: text. Out: HPACK's static Huffman code, and vice versa. The code is canonical: codes count up
// for symbols ordered by code length, then by value. The lengths alone therefore define the code.
// Input is held in a 64-bit word, with the next bit highest:
//
//   | 8 bits: index of short_codes | ...          | not read yet: zeros or the next bits |
//   |<------------------- count ----------------->|
//
// Codes of up to eight bits, nearly all of typical text, are found with one lookup; longer ones by
// the first code of each length.
#include "h2/huffman.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/byte_order.hpp"

namespace skua::h2 {
namespace {

constexpr std::size_t symbol_count = 257;  // the octets and end-of-string
constexpr unsigned end_of_string = 256;
constexpr unsigned longest_code = 30;
constexpr unsigned short_code = 8;
constexpr unsigned max_padding = 7;
constexpr std::size_t write_slack = 8;

/// The code length of each symbol in bits. RFC 7541 appendix B
constexpr std::array<std::uint8_t, symbol_count> code_sizes = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,  //
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,  //
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,   //
    5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,  //
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,   //
    7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,   //
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,   //
    6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,  //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,  //
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,  //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,  //
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,  //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,  //
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,  //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,  //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,  //
    30};

struct Code {
  std::uint32_t bits = 0;
  std::uint32_t size = 0;
};

/// The codes of one length, left-aligned in 32-bit words.
struct CodeRange {
  std::uint32_t first_bits = 0;
  std::uint32_t last_bits = 0;  ///< all bits after the last code are ones
  std::uint16_t first_place = 0;
  std::uint8_t size = 0;
};

struct ShortCode {
  std::uint8_t symbol = 0;
  std::uint8_t size = 0;  ///< 0: the code is longer than eight bits
};

constexpr unsigned lengths_above_short = [] {
  unsigned count = 0;
  for (unsigned size = short_code + 1; size <= longest_code; ++size) {
    for (const std::uint8_t each : code_sizes) {
      if (each == size) {
        ++count;
        break;
      }
    }
  }
  return count;
}();

struct Tables {
  std::array<Code, symbol_count> codes{};
  std::array<std::uint16_t, symbol_count> symbols{};  ///< in code order
  std::array<ShortCode, 1U << short_code> short_codes{};
  std::array<CodeRange, lengths_above_short> long_codes{};
};

consteval Tables make_tables() {
  Tables tables;
  std::uint32_t bits = 0;
  std::uint16_t place = 0;
  std::size_t range = 0;
  for (unsigned size = 1; size <= longest_code; ++size) {
    bits <<= 1U;
    CodeRange found{.first_bits = bits << (32 - size),
                    .last_bits = 0,
                    .first_place = place,
                    .size = static_cast<std::uint8_t>(size)};
    for (unsigned symbol = 0; symbol < symbol_count; ++symbol) {
      if (code_sizes[symbol] != size) continue;
      for (unsigned i = 0; size <= short_code && i < 1U << (short_code - size); ++i) {
        tables.short_codes[(bits << (short_code - size)) + i] = {static_cast<std::uint8_t>(symbol),
                                                                 static_cast<std::uint8_t>(size)};
      }
      tables.codes[symbol] = {bits++, size};
      tables.symbols[place++] = static_cast<std::uint16_t>(symbol);
    }
    found.last_bits = (bits << (32 - size)) - 1;
    if (place != found.first_place && size > short_code) tables.long_codes[range++] = found;
  }
  if (bits != 1U << longest_code) throw "the codes do not fill the tree";
  return tables;
}

constexpr Tables tables = make_tables();
static_assert(tables.codes['0'].bits == 0 && tables.codes['\n'].bits == 0x3ffffffc);
static_assert(tables.codes[end_of_string].bits == 0x3fffffff);

std::uint64_t load_big(const char* at) noexcept {
  return byte_order::load<std::uint64_t, std::endian::big>(at);
}

void store_big(char* at, std::uint64_t word) noexcept {
  byte_order::store<std::endian::big>(at, static_cast<std::uint32_t>(word));
}

/// Returns up to eight bytes from `at` to the end, the first one highest, padded with zeros.
std::uint64_t load_rest(std::string_view text, const char* at) noexcept {
  const char* const end = text.data() + text.size();
  const auto left = static_cast<std::size_t>(end - at);
  if (left >= 8) return load_big(at);
  if (text.size() >= 8) return load_big(end - 8) << (64 - 8 * left);
  std::uint64_t word = 0;
  for (unsigned shift = 56; at != end; shift -= 8) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(*at++)) << shift;
  }
  return word;
}

struct Symbol {
  unsigned value;
  unsigned size;
};

/// Finds the symbol at the highest bits, whose code is longer than eight bits.
Symbol find_long(std::uint64_t bits) noexcept {
  const auto window = static_cast<std::uint32_t>(bits >> 32U);
  const CodeRange* range = tables.long_codes.data();
  while (window > range->last_bits) ++range;  // the last one of the last range is all ones
  const std::uint32_t place = (window - range->first_bits) >> (32U - range->size);
  return {tables.symbols[range->first_place + place], range->size};
}

Symbol find_symbol(std::uint64_t bits) noexcept {
  const ShortCode code = tables.short_codes[bits >> (64 - short_code)];
  if (code.size != 0) return {code.symbol, code.size};
  return find_long(bits);
}

/// Decodes the last bits, fewer than 64, at the end of input. Returns null if they are malformed.
char* read_last(std::uint64_t bits, unsigned count, char* out) noexcept {
  while (count != 0) {
    // With ones after the remaining bits, padding looks like end-of-string.
    const std::uint64_t padded = bits | ~std::uint64_t{0} >> count;
    if (~padded == 0 && count <= max_padding) break;
    const Symbol symbol = find_symbol(padded);
    if (symbol.value == end_of_string) return nullptr;
    if (symbol.size > count) return nullptr;  // padding with a zero in it
    *out++ = static_cast<char>(symbol.value);
    bits <<= symbol.size;
    count -= symbol.size;
  }
  return out;
}

/// Writes codes, four bytes at a time, and returns their end; returns null on reaching `limit`.
/// May overwrite bytes after the end, up to seven bytes after the limit.
char* write_codes(std::string_view text, char* out, const char* limit) noexcept {
  std::uint64_t bits = 0;  // the lowest `count` are not written yet
  unsigned count = 0;
  for (const char c : text) {
    const Code code = tables.codes[static_cast<unsigned char>(c)];
    bits = bits << code.size | code.bits;
    count += code.size;
    if (count < 32) continue;
    count -= 32;
    store_big(out, bits >> count);
    out += 4;
    if (out >= limit) return nullptr;
  }
  store_big(out, (bits << 32U | 0xffff'ffffU) >> count);
  out += (count + 7) / 8;
  return out < limit ? out : nullptr;
}

}  // namespace

std::size_t huffman_size(std::string_view text) noexcept {
  std::size_t bits = 0;
  for (const char c : text) bits += code_sizes[static_cast<unsigned char>(c)];
  return (bits + 7) / 8;
}

char* huffman_write_shorter(std::string_view text, char* out) noexcept {
  return write_codes(text, out, out + text.size());
}

char* huffman_read(std::string_view coded, char* out) noexcept {
  const char* at = coded.data();
  const char* const end = at + coded.size();
  std::uint64_t bits = 0;  // the next `count` bits, then zeros or later bits
  unsigned count = 0;
  while (at != end) {
    bits |= load_rest(coded, at) >> count;
    const std::size_t taken =
        std::min<std::size_t>(static_cast<std::size_t>(end - at), (63 - count) / 8);
    at += taken;
    count += 8 * static_cast<unsigned>(taken);
    while (count >= longest_code) {
      const Symbol symbol = find_symbol(bits);
      if (symbol.value == end_of_string) return nullptr;
      *out++ = static_cast<char>(symbol.value);
      bits <<= symbol.size;
      count -= symbol.size;
    }
  }
  return read_last(bits, count, out);
}

void huffman_encode(std::string_view text, std::string& out) {
  const std::size_t begin = out.size();
  const std::size_t size = huffman_size(text);
  out.resize(begin + size + write_slack);
  char* const to = out.data() + begin;
  write_codes(text, to, to + size + 1);
  out.resize(begin + size);
}

bool huffman_decode(std::string_view coded, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + huffman_room(coded.size()));
  const char* const end = huffman_read(coded, out.data() + begin);
  out.resize(end == nullptr ? begin : static_cast<std::size_t>(end - out.data()));
  return end != nullptr;
}

}  // namespace skua::h2
