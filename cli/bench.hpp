// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"

namespace skua::cli {

/// `skua bench URL`: loads a server and says how it took it.
std::function<int()> configure_bench(CLI::App& parser);

}  // namespace skua::cli
