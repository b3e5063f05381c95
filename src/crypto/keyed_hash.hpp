// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace skua::crypto {

/// SipHash-2-4: an attacker without the key cannot provoke collisions in a hash table.
class KeyedHash {
 public:
  /// Uses a random key.
  KeyedHash();
  constexpr KeyedHash(std::uint64_t first, std::uint64_t second) noexcept
      : first_(first), second_(second) {}

  [[nodiscard]] std::uint64_t operator()(std::string_view text) const noexcept;

 private:
  std::uint64_t first_;
  std::uint64_t second_;
};

}  // namespace skua::crypto
