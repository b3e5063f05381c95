// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::crypto {

/// AES-256-GCM under one key, with a random nonce in front of every message.
///
/// One key is good for four thousand million messages: with more, two nonces might be the same.
class Aead final {
 public:
  /// What a sealed text is longer by: the nonce and the tag.
  static constexpr std::size_t overhead_bytes = 12 + 16;

  /// The key is derived from the secret; `purpose` keeps the keys of different uses apart.
  ///
  /// Ends with: Unsupported without OpenSSL.
  static Result<Aead> derive(std::string_view secret, std::string_view purpose);

  /// Encrypts; who opens it has to know `associated` too.
  [[nodiscard]] Result<std::string> seal(std::string_view plain, std::string_view associated) const;
  /// Decrypts.
  ///
  /// Ends with: PermissionDenied for what was not sealed with this key and `associated`.
  [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                         std::string_view associated) const;

  /// The same with a nonce of 12 bytes that never comes twice: for tests.
  [[nodiscard]] Result<std::string> seal_with_nonce(std::string_view plain,
                                                    std::string_view associated,
                                                    std::string_view nonce) const;
  /// The key of 32 bytes as it is: for tests.
  static Aead from_key(std::string key) { return Aead(std::move(key)); }

 private:
  explicit Aead(std::string key) noexcept : key_(std::move(key)) {}

  std::string key_;
};

}  // namespace skua::crypto
