// SPDX-License-Identifier: MIT
// In: a text and a key. Out: 64 bits that look random without the key. See Aumasson and
// Bernstein, "SipHash: a fast short-input PRF" (2012); two rounds per word and four at the end.
#include "crypto/keyed_hash.hpp"

#include <bit>
#include <string>

#include "crypto/random.hpp"

namespace skua::crypto {
namespace {

struct State {
  std::uint64_t a, b, c, d;

  void round() noexcept {
    a += b;
    c += d;
    b = std::rotl(b, 13) ^ a;
    d = std::rotl(d, 16) ^ c;
    a = std::rotl(a, 32);
    c += b;
    a += d;
    b = std::rotl(b, 17) ^ c;
    d = std::rotl(d, 21) ^ a;
    c = std::rotl(c, 32);
  }
  void add(std::uint64_t word) noexcept {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

// Loads up to eight bytes, little-endian.
std::uint64_t load(std::string_view bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    word = word << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return word;
}

}  // namespace

KeyedHash::KeyedHash() : first_(0), second_(0) {
  const std::string key = random_bytes(16).value();
  first_ = load(std::string_view(key).substr(0, 8));
  second_ = load(std::string_view(key).substr(8));
}

std::uint64_t KeyedHash::operator()(std::string_view text) const noexcept {
  State state{first_ ^ 0x736f6d6570736575U, second_ ^ 0x646f72616e646f6dU,
              first_ ^ 0x6c7967656e657261U, second_ ^ 0x7465646279746573U};
  const std::uint64_t length = std::uint64_t{text.size()} << 56U;
  for (; text.size() >= 8; text.remove_prefix(8)) state.add(load(text.substr(0, 8)));
  state.add(length | load(text));
  state.c ^= 0xffU;
  for (int i = 0; i < 4; ++i) state.round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace skua::crypto
