// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <functional>

namespace skua::cli {

/// What a command returns to the shell.
inline constexpr int succeeded = 0;
inline constexpr int failed = 1;         ///< the world did not cooperate; stderr says what to do
inline constexpr int misunderstood = 2;  ///< the command line makes no sense

/// Declares a command's options on its own parser; returns what to run once they are parsed.
using Configure = std::function<int()>(CLI::App& parser);

}  // namespace skua::cli
