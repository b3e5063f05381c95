// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "configure.hpp"
#include "serve/options.hpp"
#include "skua/address.hpp"

namespace skua::cli {

/// Adds --open and --qr; `options` must outlive the parser.
void declare_launch(CLI::App& parser, ServeOptions& options);

/// Returns the URL by which other machines reach a server, given its own and the addresses of this
/// machine; empty if there is none.
std::string public_url(const std::string& url, const std::vector<Address>& addresses);

/// Prints the QR code of --qr on stderr, or why there is none. The sandbox does not let this ask if
/// that is a terminal, which has colours.
void announce_qr_code(const ServeOptions& options, const std::string& url,
                      const std::vector<Address>& addresses, bool has_colours);

}  // namespace skua::cli
