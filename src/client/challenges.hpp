// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "http/field.hpp"

namespace skua::client {

/// Returns the values of all field lines with this name.
std::vector<std::string_view> values_of(const http::Head& head, std::string_view name);

/// Reports whether any challenge in these fields is Basic. Malformed fields are skipped.
bool offers_basic(std::span<const std::string_view> fields);

}  // namespace skua::client
