// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"

namespace skua::cli {

/// `skua ws URL`: talks to a WebSocket server.
std::function<int()> configure_ws(CLI::App& parser);

}  // namespace skua::cli
