// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace skua::proxy {

/// Returns the target to send upstream for the target of a request: its path, without dot segments
/// and then also without empty ones, and its query as sent. If there is a `base`, it replaces the
/// first `replaced_segments` segments of the path.
///
/// `target` has a path that http::canonical_path() or http::may_stay_as_sent() accepts; `base` is
/// empty or starts with a slash.
[[nodiscard]] std::string upstream_target(std::string_view target,
                                          std::optional<std::string_view> base,
                                          std::size_t replaced_segments);

}  // namespace skua::proxy
