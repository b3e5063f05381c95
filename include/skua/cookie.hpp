// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace skua {

/// When a browser sends a cookie to us from a page of another site. RFC 6265bis §5.2
enum class SameSite : std::uint8_t { None, Lax, Strict };

/// How a cookie is kept; the defaults are the strict ones.
struct CookieOptions {
  std::chrono::seconds max_age{};  ///< zero: until the browser closes; negative: delete it now
  std::string_view path = "/";     ///< empty: the folder of the request
  std::string_view domain{};       ///< empty: this host only
  bool http_only = true;           ///< hidden from scripts
  bool secure = true;              ///< sent over TLS only
  SameSite same_site = SameSite::Lax;
  bool partitioned = false;  ///< kept apart for each top-level site; needs secure
  /// For clients that do not know Max-Age; where both are given, `max_age` wins. Absent: not said.
  std::optional<std::chrono::system_clock::time_point> expires{};
};
static_assert(std::is_trivially_copyable_v<CookieOptions>);

}  // namespace skua
