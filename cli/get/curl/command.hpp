// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"

namespace skua::cli::curl {

/// Configures `skua curl`, which takes a command line of curl, as browsers copy it.
std::function<int()> configure(CLI::App& parser);

}  // namespace skua::cli::curl
