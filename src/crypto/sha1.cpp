// SPDX-License-Identifier: MIT
// In: text. Out: its SHA-1, by code of our own (RFC 3174).
#include "crypto/sha1.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace skua::crypto {
namespace {

constexpr std::size_t sha1_block_bytes = 64;
constexpr std::size_t length_bytes = 8;

using Sha1State = std::array<std::uint32_t, 5>;

// RFC 3174 §6.1
void add_block(Sha1State& state, std::string_view block) noexcept {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < sha1_block_bytes; ++i) {
    words[i / 4] = words[i / 4] << 8U | static_cast<unsigned char>(block[i]);
  }
  for (std::size_t i = 16; i < words.size(); ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t mixed = b ^ c ^ d;
    std::uint32_t constant = i < 40 ? 0x6ed9eba1 : 0xca62c1d6;
    if (i < 20) {
      mixed = (b & c) | (~b & d);
      constant = 0x5a827999;
    } else if (i >= 40 && i < 60) {
      mixed = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdc;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i] + constant;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const Sha1State added{a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

// RFC 3174 §4: a 1 bit, zeros up to the last 8 bytes of a block, then the length in bits.
std::string padded(std::string_view text) {
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  std::string message(text);
  message += '\x80';
  while (message.size() % sha1_block_bytes != sha1_block_bytes - length_bytes) message += '\0';
  for (unsigned shift = 64; shift != 0; shift -= 8) {
    message += static_cast<char>(bits >> (shift - 8) & 0xffU);
  }
  return message;
}

}  // namespace

std::string sha1(std::string_view text) {
  Sha1State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::string message = padded(text);
  for (std::size_t at = 0; at < message.size(); at += sha1_block_bytes) {
    add_block(state, std::string_view(message).substr(at, sha1_block_bytes));
  }
  std::string digest;
  for (const std::uint32_t word : state) {
    for (unsigned shift = 32; shift != 0; shift -= 8) {
      digest += static_cast<char>(word >> (shift - 8) & 0xffU);
    }
  }
  return digest;
}

}  // namespace skua::crypto
