// SPDX-License-Identifier: MIT
// In: handshake keys. Out: accept values. The protocol prescribes SHA-1, which protects no secret.
#include "ws/handshake_key.hpp"

#include <algorithm>
#include <cstddef>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/random.hpp"
#include "crypto/sha1.hpp"

namespace skua::ws {
namespace {

constexpr std::size_t key_bytes = 16;
constexpr std::size_t key_digits = 22;  // plus two of padding
constexpr std::string_view websocket_guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

bool is_base64_digit(char c) noexcept {
  return ascii::is_alpha(c) || ascii::is_digit(c) || c == '+' || c == '/';
}

}  // namespace

bool is_valid_key(std::string_view text) noexcept {
  return text.size() == key_digits + 2 && text.ends_with("==") &&
         std::all_of(text.begin(), text.begin() + key_digits, is_base64_digit);
}

std::string accept_key(std::string_view key) {
  return base64::encode(crypto::sha1(std::string(key).append(websocket_guid)));
}

Result<std::string> make_key() {
  const auto bytes = crypto::random_bytes(key_bytes);
  if (!bytes) return bytes.error();
  return base64::encode(*bytes);
}

}  // namespace skua::ws
