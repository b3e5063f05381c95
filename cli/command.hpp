// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

#include "exit_code.hpp"

namespace skua::cli {

/// Declares a command's options on its own parser; returns what to run once they are parsed.
using Configure = std::function<int()>(CLI::App& parser);

}  // namespace skua::cli
