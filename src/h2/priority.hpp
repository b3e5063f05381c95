// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::h2 {

/// The priority that a client gives to a response. RFC 9218 §4
struct Priority {
  std::uint8_t urgency = 3;     ///< 0 is the most urgent, 7 the least
  bool is_incremental = false;  ///< partial content is useful
};

inline constexpr std::size_t urgency_count = 8;

/// Parses the value of a `priority` field or PRIORITY_UPDATE, such as `u=1, i`. Missing members get
/// their defaults, as do all members if the value is malformed. RFC 9218 §4, 9651 §3.2
Priority parse_priority(std::string_view value) noexcept;

}  // namespace skua::h2
