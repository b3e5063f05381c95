// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"
#include "get/options.hpp"

namespace skua::cli::curl {

/// Adds the options of `skua curl` to a command. `options`, which parsing fills and checks, must
/// outlive the parser.
void declare(CLI::App& parser, GetOptions& options);

/// Configures `skua curl`, which takes a command line of curl, as browsers copy it.
std::function<int()> configure(CLI::App& parser);

}  // namespace skua::cli::curl
