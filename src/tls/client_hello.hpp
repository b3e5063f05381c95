// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace skua::tls {

/// Returns the DNS name in a server_name extension, or nullopt if the extension is malformed.
///
/// RFC:       6066 §3
[[nodiscard]] std::optional<std::string_view> parse_server_name(
    std::string_view extension) noexcept;

}  // namespace skua::tls
