// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skua/cookie.hpp"

namespace skua::http {

/// The value of the first cookie with this name in a Cookie field; a pair without '=' is skipped.
///
/// RFC:       6265 §4.2.1
std::optional<std::string_view> find_cookie(std::string_view field, std::string_view name) noexcept;

/// The value of a Set-Cookie field.
///
/// Ends with: std::invalid_argument, see Response::cookie.
/// RFC:       6265 §4.1.1
std::string set_cookie(std::string_view name, std::string_view value, const CookieOptions& options);

}  // namespace skua::http
