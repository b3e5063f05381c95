// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
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

/// Returns the HMAC of `bytes` under `key`.
///
/// Ends with: Unsupported, like hash().
/// RFC:       2104
Result<std::string> hmac(Hash algorithm, std::string_view key, std::string_view bytes);

/// Derives a key of at most 8160 bytes from a secret; `info` names its purpose.
///
/// Ends with: Unsupported, like hash(), or if the key would be longer.
/// RFC:       5869, with SHA-256
Result<std::string> hkdf_sha256(std::string_view secret, std::string_view salt,
                                std::string_view info, std::size_t size_bytes);

/// Reports whether two secrets are equal, in time that depends only on their sizes.
inline bool equals(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  // Volatile, so that the compiler cannot end the loop early.
  volatile unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

}  // namespace skua::crypto
