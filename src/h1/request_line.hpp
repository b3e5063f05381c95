// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "http/message/field.hpp"

namespace skua::h1 {

/// Returns the method and the target that a malformed or incomplete head seems to have, for logs;
/// the other members are empty. Neither has a control character. It views `received`, whose bytes
/// may be anything.
[[nodiscard]] http::Head read_request_line(std::string_view received) noexcept;

}  // namespace skua::h1
