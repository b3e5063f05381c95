// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"

#include <functional>

namespace skua::cli {

/// Configures `skua serve [DIR]`, which serves a folder until a signal stops it.
std::function<int()> configure_serve(CLI::App& parser);

}  // namespace skua::cli
