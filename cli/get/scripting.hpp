// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "configure.hpp"
#include "get/options.hpp"

namespace skua::cli {

/// Adds the options for scripts and habits: reports, sessions, --offline and a file of defaults,
/// which is read after the command line.
void declare_scripting(CLI::App& parser, GetOptions& options);

}  // namespace skua::cli
