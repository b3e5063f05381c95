// SPDX-License-Identifier: MIT
// In: handshake keys. Out: accept values. The protocol prescribes SHA-1, which protects no secret.
// The code is our own (RFC 3174), because WebSocket must also work in builds without OpenSSL.
#include "ws/handshake_key.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/random.hpp"

namespace skua::ws {
namespace {

constexpr std::size_t key_bytes = 16;
constexpr std::size_t key_digits = 22;  // plus two of padding
constexpr std::string_view websocket_guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

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

bool is_base64_digit(char c) noexcept {
  return ascii::is_alpha(c) || ascii::is_digit(c) || c == '+' || c == '/';
}

}  // namespace

bool is_valid_key(std::string_view text) noexcept {
  return text.size() == key_digits + 2 && text.ends_with("==") &&
         std::all_of(text.begin(), text.begin() + key_digits, is_base64_digit);
}

std::string accept_key(std::string_view key) {
  return base64::encode(sha1(std::string(key).append(websocket_guid)));
}

Result<std::string> make_key() {
  const auto bytes = crypto::random_bytes(key_bytes);
  if (!bytes) return bytes.error();
  return base64::encode(*bytes);
}

}  // namespace skua::ws
