// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "skua/auth.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::middleware {

/// Returns the value of the credentials field. Returns nullopt if the field is missing, or if it
/// occurs twice: an intermediary may have checked the other one.
std::optional<std::string_view> find_credentials(const Request& request, auth::Role role) noexcept;

/// Returns a 401 or 407 response without a challenge.
Response refuse(auth::Role role);
void add_challenge(Response& response, auth::Role role, std::string_view challenge);

/// Returns a challenge such as `Basic realm="..."`.
///
/// Ends with: std::invalid_argument if the realm is not a valid field value.
std::string realm_challenge(std::string_view scheme, std::string_view realm);

}  // namespace skua::middleware
