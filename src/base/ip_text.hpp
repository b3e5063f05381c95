// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua {

/// Parses a dotted quad: four decimal numbers without leading zeros. Rejects other forms that
/// some resolvers take for an address (`127.1`, `0x7f.0.0.1`, `017700000001`).
///
/// RFC:       3986 §3.2.2, IPv4address
std::optional<std::array<std::uint8_t, 4>> parse_ipv4(std::string_view text) noexcept;

/// Parses an IPv6 address, without brackets and zone, into its eight groups.
///
/// RFC:       3986 §3.2.2, IPv6address
std::optional<std::array<std::uint16_t, 8>> parse_ipv6(std::string_view text) noexcept;

/// Appends the canonical text of an IPv6 address. RFC 5952 §4, §5
void append_ipv6(std::string& out, const std::array<std::uint16_t, 8>& groups);

}  // namespace skua
