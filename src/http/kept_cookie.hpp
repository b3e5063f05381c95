// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>

#include "skua/cookie_jar.hpp"

namespace skua::http {

inline bool is_expired(const KeptCookie& cookie, std::chrono::sys_seconds now) noexcept {
  return cookie.expires && *cookie.expires <= now;
}

/// Returns the number of bytes that count towards CookieJarOptions::size_bytes.
inline std::size_t size_of(const KeptCookie& cookie) noexcept {
  return cookie.name.size() + cookie.value.size() + cookie.domain.size() + cookie.path.size();
}

}  // namespace skua::http
