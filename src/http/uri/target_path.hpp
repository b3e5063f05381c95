// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::http {

/// The two parts of a request target: the raw path and the raw query (without '?').
struct TargetParts {
  std::string_view path{};
  std::string_view query{};
};

/// Splits an origin-form or absolute-form target or "*"; an empty path becomes "/". RFC 9112 §3.2
TargetParts split_target(std::string_view target) noexcept;

/// Returns the canonical form of a path, which the router, guards and files see: percent-decoded
/// once, then normalized once.
///
/// Returns the input itself if it is already canonical, otherwise a view of `scratch`, which must
/// be as large as the input. "*" stays "*".
///
/// Ends with: Errc::MalformedTarget if the path does not start with '/', contains a malformed
///            percent sign, an encoded slash, or a raw or encoded backslash or control character,
///            or climbs above the root.
/// RFC:       3986 §2.1, §5.2.4, §6.2.2
Result<std::string_view> canonical_path(std::string_view raw, std::span<char> scratch) noexcept;

/// Reports whether a path that is not canonical may be passed on as sent: only a slash or a
/// backslash is encoded that could separate segments, and even if they do, none is a dot segment.
SKUA_COLD bool may_stay_as_sent(std::string_view raw) noexcept;

}  // namespace skua::http
