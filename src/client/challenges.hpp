// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "http/field.hpp"

namespace skua::client {

/// The values of all lines with this name.
std::vector<std::string_view> values_of(const http::Head& head, std::string_view name);

/// Whether one of the challenges in these fields is Basic; those that are malformed are none.
bool offers_basic(std::span<const std::string_view> fields);

}  // namespace skua::client
