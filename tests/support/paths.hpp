// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace skua::testing {

/// Returns the path of a file in this checkout, e.g. `tests/cases`.
std::string source_path(const char* relative);

/// Returns the path of a program in this build, e.g. `skua`.
std::string program_path(const char* name);

}  // namespace skua::testing
