// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::h2 {

/// How urgently a client wants a response. RFC 9218 §4
struct Priority {
  std::uint8_t urgency = 3;     ///< 0 is the most urgent, 7 the least
  bool is_incremental = false;  ///< parts of it are of use before it is whole
};

inline constexpr std::size_t urgency_count = 8;

/// What a `priority` field or a PRIORITY_UPDATE says: `u=1, i`. What it leaves out has the default,
/// as has everything where it is malformed. RFC 9218 §4, 9651 §3.2
Priority parse_priority(std::string_view value) noexcept;

}  // namespace skua::h2
