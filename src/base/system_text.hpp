// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace skua::base {

/// Returns the operating system's text for an errno, without a line end.
std::string system_text(int code);

}  // namespace skua::base
