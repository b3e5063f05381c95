// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "configure.hpp"
#include "skua/client_options.hpp"

namespace skua::cli {

/// Returns the URL of a proxy. Like in an address bar, http:// is the default, and `:3128` is a
/// port of this machine.
///
/// Ends with: CLI::ValidationError.
std::string proxy_url(const std::string& text);

/// Adds the options that say how a client reaches servers: proxies, IP versions, the interface.
/// Their combinations are checked as they are parsed. `client` must outlive the parser.
void declare_network(CLI::App& parser, ClientOptions& client);

}  // namespace skua::cli
