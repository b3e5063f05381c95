// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace skua::http {

/// Parses the date of an Expires attribute as leniently as browsers do.
///
/// RFC:       6265bis §5.1.1
std::optional<std::chrono::sys_seconds> parse_cookie_date(std::string_view text) noexcept;

}  // namespace skua::http
