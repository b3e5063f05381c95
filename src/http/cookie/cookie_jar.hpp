// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "skua/cookie_jar.hpp"

namespace skua::http {

inline bool is_expired(const KeptCookie& cookie, std::chrono::sys_seconds now) noexcept {
  return cookie.expires && *cookie.expires <= now;
}

/// Returns the number of bytes that count towards CookieJarOptions::size_bytes.
inline std::size_t size_of(const KeptCookie& cookie) noexcept {
  return cookie.name.size() + cookie.value.size() + cookie.domain.size() + cookie.path.size();
}

/// Reports whether a host equals a domain or is below it. Both are normalized names, not addresses.
///
/// RFC:       6265bis §5.1.3
bool domain_matches(std::string_view host, std::string_view domain) noexcept;

/// Reports whether a cookie with `cookie_path` is sent with a request for `request_path`.
///
/// RFC:       6265bis §5.1.4
bool path_matches(std::string_view request_path, std::string_view cookie_path) noexcept;

/// Returns the path of a cookie without a Path attribute: the folder of the request.
///
/// RFC:       6265bis §5.1.4
std::string_view default_cookie_path(std::string_view request_path) noexcept;

/// Reports whether a domain has a dot between non-empty labels. `com` has none, and neither has
/// `com.`, which resolvers treat as the same.
bool has_inner_dot(std::string_view domain) noexcept;

}  // namespace skua::http
