// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "http/message/field.hpp"

namespace skua::http {

/// Reports whether a field may be sent in or taken from a trailer section. Fields that frame,
/// route, authenticate, negotiate or describe content may not. RFC 9110 §6.5.1
bool is_allowed_in_trailers(FieldName name, std::string_view text) noexcept;

/// Checks a trailer that an application sends through a BodyWriter.
///
/// Ends with: std::invalid_argument if it is not allowed.
void check_trailer(std::string_view name);

}  // namespace skua::http
