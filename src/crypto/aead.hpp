// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::crypto {

/// AES-256-GCM under one key, with a random nonce before each message.
///
/// A key is good for 2^32 messages; beyond that two random nonces might collide.
class Aead final {
 public:
  /// The size that sealing adds: the nonce and the tag.
  static constexpr std::size_t overhead_bytes = 12 + 16;

  /// Derives the key from a secret; a different `purpose` gives a different key.
  ///
  /// Ends with: Unsupported without OpenSSL.
  static Result<Aead> derive(std::string_view secret, std::string_view purpose);

  /// Encrypts; open() needs the same `associated` data.
  [[nodiscard]] Result<std::string> seal(std::string_view plain, std::string_view associated) const;
  /// Decrypts.
  ///
  /// Ends with: PermissionDenied if the text was not sealed with this key and `associated`.
  [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                         std::string_view associated) const;

  /// For tests: like seal(), with a given 12-byte nonce, which must never be reused.
  [[nodiscard]] Result<std::string> seal_with_nonce(std::string_view plain,
                                                    std::string_view associated,
                                                    std::string_view nonce) const;
  /// For tests: uses a 32-byte key as it is.
  static Aead from_key(std::string key) { return Aead(std::move(key)); }

 private:
  explicit Aead(std::string key) noexcept : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace skua::crypto
