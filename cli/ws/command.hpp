// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"

namespace skua::cli {

/// Configures `skua ws URL`, which talks to a WebSocket server.
std::function<int()> configure_ws(CLI::App& parser);

}  // namespace skua::cli
