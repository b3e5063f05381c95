// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "configure.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"

namespace skua::cli {

/// Configures `skua serve [DIR]`, which serves a folder until a signal stops it.
std::function<int()> configure_serve(CLI::App& parser);

/// Prints why the server cannot start, with advice, on stderr; returns the exit code. `port_option`
/// is the option that sets its port.
int report_start(const ServerOptions& options, const Problem& problem,
                 const std::string& port_option = "--port");

}  // namespace skua::cli
