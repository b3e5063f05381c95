// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace skua::crypto {

/// Whether two secrets are the same, in a time that depends on their sizes only.
inline bool equals(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler ends the loop early.
  volatile unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

}  // namespace skua::crypto
