// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::crypto {

/// Whether skua was built with OpenSSL; without it everything of this folder but random bytes and
/// comparing ends with Unsupported.
bool is_available() noexcept;

/// MD5 and SHA-1 are for protocols that prescribe them, never for a choice of ours.
enum class Hash : std::uint8_t { Md5, Sha1, Sha256, Sha512_256 };

/// The size of a hash value: 16, 20 or 32.
constexpr std::size_t size_bytes(Hash algorithm) noexcept {
  return algorithm == Hash::Md5 ? 16 : algorithm == Hash::Sha1 ? 20 : 32;
}

/// The hash value of bytes.
///
/// Ends with: Unsupported, also where a policy of the machine forbids the algorithm.
Result<std::string> hash(Hash algorithm, std::string_view bytes);

/// The same as text in lower case.
Result<std::string> hash_hex(Hash algorithm, std::string_view bytes);

/// A hash value of bytes that come in pieces.
class Hasher final {
 public:
  /// Ends with: Unsupported, as hash().
  static Result<Hasher> create(Hash algorithm);

  /// Ends with: SystemFailure.
  Result<void> update(std::string_view bytes);
  /// The value of all that came; no more may come after it.
  Result<std::string> finish();

 private:
  struct Release {
    void operator()(void* context) const noexcept;
  };
  explicit Hasher(void* context) noexcept : context_(context) {}

  std::unique_ptr<void, Release> context_;
};

}  // namespace skua::crypto
