// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "http/field.hpp"

namespace skua::http {

/// Whether a field may be sent in a trailer section, and taken from one: not if it frames, routes,
/// authenticates, negotiates or describes content. RFC 9110 §6.5.1
bool is_allowed_in_trailers(FieldName name, std::string_view text) noexcept;

/// The same for a field that a program wants to send; whoever takes one from a BodyWriter asks.
///
/// Ends with: std::invalid_argument where it is not allowed.
void check_trailer(std::string_view name);

}  // namespace skua::http
