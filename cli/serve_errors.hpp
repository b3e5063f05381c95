// SPDX-License-Identifier: MIT
#pragma once

#include "skua/error.hpp"
#include "skua/options.hpp"

#include <string>

namespace skua::cli {

/// Says on stderr why the folder cannot be served, and what to do; returns the exit code.
int report_folder(const std::string& folder, Error error);

/// Says on stderr why the server cannot start, and what to do; returns the exit code. `port_option`
/// is what chooses its port.
int report_start(const ServerOptions& options, const Problem& problem,
                 const std::string& port_option = "--port");

}  // namespace skua::cli
