// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"

namespace skua::cli {

/// Configures `skua bench URL`, which load-tests a server and prints a report.
std::function<int()> configure_bench(CLI::App& parser);

}  // namespace skua::cli
