// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "configure.hpp"

namespace skua::cli {

/// The parser of each command, and the function to run if it was parsed.
using Actions = std::vector<std::pair<CLI::App*, std::function<int()>>>;

/// Declares the whole command line of `skua` on an empty parser, which must outlive the result.
Actions declare_commands(CLI::App& parser);

}  // namespace skua::cli
