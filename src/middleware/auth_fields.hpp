// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skua/auth.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::middleware {

/// The field with the credentials. Nothing where it is missing; nothing either where there are
/// two, of which somebody in front of us may have read the other one.
std::optional<std::string_view> find_credentials(const Request& request, auth::Role role) noexcept;

/// 401 or 407, without a challenge yet.
Response refuse(auth::Role role);
void add_challenge(Response& response, auth::Role role, std::string_view challenge);

/// `Basic realm="..."`
///
/// Ends with: std::invalid_argument for a realm that no field can have.
std::string realm_challenge(std::string_view scheme, std::string_view realm);

}  // namespace skua::middleware
