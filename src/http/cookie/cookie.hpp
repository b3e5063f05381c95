// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "skua/cookie.hpp"

namespace skua::http {

// RFC 6265bis §5.6: longer cookies and longer attributes are ignored.
inline constexpr std::size_t max_cookie_bytes = 4096;
inline constexpr std::size_t max_cookie_attribute_bytes = 1024;

/// Removes and returns the next cookie of a Cookie field; skips empty pairs.
///
/// Only the white space around a pair is trimmed: `a =b` is not named `a`. RFC 6265 §4.2.1
std::optional<Cookie> take_cookie(std::string_view& field) noexcept;

/// Returns the value of the first cookie with this name in a Cookie field.
std::optional<std::string_view> find_cookie(std::string_view field, std::string_view name) noexcept;

/// The promise made by the prefix of a cookie name, ignoring case. RFC 6265bis §4.1.3
enum class CookiePrefix : std::uint8_t { None, Secure, Host };
CookiePrefix cookie_prefix(std::string_view name) noexcept;

}  // namespace skua::http
