// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"
#include "skua/client_options.hpp"

namespace skua::cli {

/// Adds the options that say how a client reaches servers: proxies, IP versions, the interface.
/// Their combinations are checked as they are parsed. `client` must outlive the parser.
void declare_network(CLI::App& parser, ClientOptions& client);

}  // namespace skua::cli
