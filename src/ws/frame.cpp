// SPDX-License-Identifier: MIT
// In: bytes and a 4-byte key. Out: the bytes XORed with the repeated key. The key is widened to a
// word, and compilers vectorize the loop over words.
#include "ws/frame.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace skua::ws {
namespace {

using Word = std::uint64_t;

void mask_word(char* p, Word key) noexcept {
  Word word;
  std::memcpy(&word, p, sizeof word);
  word ^= key;
  std::memcpy(p, &word, sizeof word);
}

}  // namespace

void mask(std::span<char> bytes, const std::array<char, 4>& key, std::size_t offset) noexcept {
  std::array<char, sizeof(Word)> repeated;
  for (std::size_t i = 0; i < repeated.size(); ++i) repeated[i] = key[(offset + i) % key.size()];
  Word word;
  std::memcpy(&word, repeated.data(), sizeof word);

  const std::size_t in_words = bytes.size() / sizeof(Word) * sizeof(Word);
  for (std::size_t i = 0; i < in_words; i += sizeof(Word)) mask_word(bytes.data() + i, word);
  for (std::size_t i = in_words; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ repeated[i - in_words]);
  }
}

// In: bytes. Out: the header of a frame, and vice versa. RFC 6455 §5.2:
//
//   0               1               2..9               ..+3
//   F R R R OOOO    M LLLLLLL       length, if L>=126  key, if M
//
// If L is 126, the length has 2 bytes; if L is 127, it has 8. The most significant comes first.

namespace {

constexpr unsigned final_bit = 0x80;
constexpr unsigned compressed_bit = 0x40;
constexpr unsigned reserved_bits = 0x30;
constexpr unsigned opcode_bits = 0x0f;
constexpr unsigned mask_bit = 0x80;
constexpr unsigned length_bits = 0x7f;
constexpr unsigned two_bytes = 126;
constexpr unsigned eight_bytes = 127;

constexpr bool is_known(unsigned opcode) noexcept {
  return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

constexpr std::size_t length_size(unsigned short_length) noexcept {
  return short_length == eight_bytes ? 8 : short_length == two_bytes ? 2 : 0;
}

std::uint64_t read_big_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

char* write_big_endian(std::uint64_t value, unsigned size, char* out) noexcept {
  for (unsigned i = size; i-- > 0;) *out++ = static_cast<char>(value >> (8 * i) & 0xffU);
  return out;
}

}  // namespace

Result<void> parse_frame_start(char first, char second, FrameHeader& out) noexcept {
  const auto a = static_cast<unsigned char>(first);
  const auto b = static_cast<unsigned char>(second);
  const unsigned length = b & length_bits;
  if ((a & reserved_bits) != 0) return malformed_frame("a reserved bit is set");
  if (!is_known(a & opcode_bits)) return malformed_frame("an opcode is reserved");
  out.opcode = static_cast<Opcode>(a & opcode_bits);
  out.is_final = (a & final_bit) != 0;
  out.is_compressed = (a & compressed_bit) != 0;
  out.is_masked = (b & mask_bit) != 0;
  out.payload_bytes = length;
  if (is_control(out.opcode)) {
    if (!out.is_final) return malformed_frame("a control frame is fragmented");
    if (out.is_compressed) return malformed_frame("a control frame is compressed");
    if (length > longest_control_bytes) return malformed_frame("a control frame is too long");
  }
  return {};
}

Result<std::size_t> parse_frame_header(std::string_view input, FrameHeader& out) noexcept {
  if (input.size() < 2) return std::size_t{0};
  if (const auto start = parse_frame_start(input[0], input[1], out); !start) return start.error();
  return parse_frame_rest(input, out);
}

Result<std::size_t> parse_frame_rest(std::string_view input, FrameHeader& out) noexcept {
  std::size_t used = 2;
  if (const std::size_t size = length_size(static_cast<unsigned>(out.payload_bytes)); size != 0) {
    if (input.size() < used + size) return std::size_t{0};
    const std::uint64_t length = read_big_endian(input.substr(used, size));
    if (length >> 63U != 0) return malformed_frame("a length is above 2^63-1");
    if (length < (size == 2 ? two_bytes : 0x10000U))
      return malformed_frame("a length is not minimal");
    out.payload_bytes = length;
    used += size;
  }
  if (out.is_masked) {
    if (input.size() < used + out.key.size()) return std::size_t{0};
    std::memcpy(out.key.data(), input.data() + used, out.key.size());
    used += out.key.size();
  }
  return used;
}

char* write_frame_header(const FrameHeader& header, char* out) noexcept {
  const std::uint64_t length = header.payload_bytes;
  const unsigned short_length = length < two_bytes  ? static_cast<unsigned>(length)
                                : length <= 0xffffU ? two_bytes
                                                    : eight_bytes;
  *out++ =
      static_cast<char>(static_cast<unsigned>(header.opcode) | (header.is_final ? final_bit : 0U) |
                        (header.is_compressed ? compressed_bit : 0U));
  *out++ = static_cast<char>(short_length | (header.is_masked ? mask_bit : 0U));
  out = write_big_endian(length, static_cast<unsigned>(length_size(short_length)), out);
  if (header.is_masked) out = std::copy(header.key.begin(), header.key.end(), out);
  return out;
}

std::string make_frame(const FrameHeader& header, std::string_view payload) {
  std::array<char, longest_header_bytes> text;
  const auto header_bytes =
      static_cast<std::size_t>(write_frame_header(header, text.data()) - text.data());
  std::string frame;
  frame.reserve(header_bytes + payload.size());
  frame.append(text.data(), header_bytes).append(payload);
  if (header.is_masked) mask(std::span(frame).subspan(header_bytes), header.key, 0);
  return frame;
}

}  // namespace skua::ws
