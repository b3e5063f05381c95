// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace skua::testing {

/// The path of a file of this checkout, `tests/cases` for example.
std::string source_path(const char* relative);

/// The path of a program of this build, `skua` for example.
std::string program_path(const char* name);

}  // namespace skua::testing
