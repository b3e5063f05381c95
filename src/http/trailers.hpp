// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "http/field.hpp"

namespace skua::http {

/// Whether a field may be taken from the trailer section: not if it frames, routes, authenticates,
/// negotiates or describes content. RFC 9110 §6.5.1
bool is_allowed_in_trailers(FieldName name, std::string_view text) noexcept;

}  // namespace skua::http
