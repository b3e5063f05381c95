// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace skua {

/// `Sun, 06 Nov 1994 08:49:37 GMT`
inline constexpr std::size_t http_date_bytes = 29;

/// Writes a time as an IMF-fixdate. Years are clamped to 0 to 9999.
///
/// RFC:       9110 §5.6.7
void format_http_date(std::chrono::sys_seconds time, std::span<char, http_date_bytes> out) noexcept;

/// Parses any of the three formats: IMF-fixdate, RFC 850 and asctime.
///
/// `now` decides the century of an RFC 850 date: more than 50 years ahead means in the past.
/// RFC:       9110 §5.6.7
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text,
                                                        std::chrono::sys_seconds now) noexcept;

}  // namespace skua
