// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace skua::crypto {

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
