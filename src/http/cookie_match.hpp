// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::http {

/// Whether a host is a domain or below it; both in their normal form, neither an address.
///
/// RFC:       6265bis §5.1.3
bool domain_matches(std::string_view host, std::string_view domain) noexcept;

/// Whether a cookie with a path goes along with a request for another.
///
/// RFC:       6265bis §5.1.4
bool path_matches(std::string_view request_path, std::string_view cookie_path) noexcept;

/// The path of a cookie that says none: the folder of the request.
///
/// RFC:       6265bis §5.1.4
std::string_view default_cookie_path(std::string_view request_path) noexcept;

/// Whether a domain has a dot between labels that are not empty: `com` has none, nor has `com.`,
/// which is the same to resolvers.
bool has_owner_label(std::string_view domain) noexcept;

}  // namespace skua::http
