// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "skua/error.hpp"

namespace skua::http {

/// A request target in two: the raw path and the raw query (without '?').
struct TargetParts {
  std::string_view path{};
  std::string_view query{};
};

/// Splits an origin-form or absolute-form target (its path may be empty: then "/") or "*". RFC 9112
/// §3.2
TargetParts split_target(std::string_view target) noexcept;

/// The one form of a path that router, guards and files see: percent-decoded once, then normalised
/// once.
///
/// Returns the input itself where nothing had to change, otherwise a view of `scratch`, which has
/// to be as large as the input. "*" stays "*".
///
/// Ends with: Errc::MalformedTarget for a path that does not start with '/', a malformed percent
/// sign, an
///            encoded or raw control character, a backslash, an encoded slash, and for a path that
///            climbs above the root.
/// RFC:       3986 §2.1, §5.2.4, §6.2.2
Result<std::string_view> canonical_path(std::string_view raw, std::span<char> scratch) noexcept;

}  // namespace skua::http
