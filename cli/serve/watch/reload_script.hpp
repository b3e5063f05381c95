// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::cli {

/// The script that reloads the page which loads it, or its style sheets, after a change.
extern const std::string_view reload_script;

}  // namespace skua::cli
