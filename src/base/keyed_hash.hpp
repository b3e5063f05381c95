// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace skua {

/// SipHash-2-4: who does not know the key cannot make texts meet in one place of a table.
class KeyedHash {
 public:
  /// With a key that only this object knows.
  KeyedHash();
  constexpr KeyedHash(std::uint64_t first, std::uint64_t second) noexcept
      : first_(first), second_(second) {}

  [[nodiscard]] std::uint64_t operator()(std::string_view text) const noexcept;

 private:
  std::uint64_t first_;
  std::uint64_t second_;
};

}  // namespace skua
