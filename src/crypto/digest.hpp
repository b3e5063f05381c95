// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::crypto {

/// Reports whether skua was built with OpenSSL. Without it everything in this folder ends with
/// Unsupported, except random_bytes() and equals().
bool is_available() noexcept;

/// A hash algorithm. MD5 and SHA-1 are only for protocols that require them.
enum class Hash : std::uint8_t { Md5, Sha1, Sha256, Sha512256 };

/// Returns the size of a hash value: 16, 20 or 32 bytes.
constexpr std::size_t size_bytes(Hash algorithm) noexcept {
  return algorithm == Hash::Md5 ? 16 : algorithm == Hash::Sha1 ? 20 : 32;
}

/// Hashes `bytes`.
///
/// Ends with: Unsupported, also if the machine's policy forbids the algorithm.
Result<std::string> hash(Hash algorithm, std::string_view bytes);

/// Like hash(), but as hexadecimal text in lower case.
Result<std::string> hash_hex(Hash algorithm, std::string_view bytes);

/// Hashes bytes that arrive in pieces.
class Hasher final {
 public:
  /// Ends with: Unsupported, like hash().
  static Result<Hasher> create(Hash algorithm);

  /// Ends with: SystemFailure.
  Result<void> update(std::string_view bytes);
  /// Returns the hash of all bytes so far; call nothing after it.
  Result<std::string> finish();

 private:
  struct Release {
    void operator()(void* context) const noexcept;
  };
  explicit Hasher(void* context) noexcept : context_(context) {}

  std::unique_ptr<void, Release> context_;
};

}  // namespace skua::crypto
