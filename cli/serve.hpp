// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"

#include <functional>

namespace skua::cli {

/// `skua serve [DIR]`: serves a folder until it is told to stop.
std::function<int()> configure_serve(CLI::App& parser);

}  // namespace skua::cli
