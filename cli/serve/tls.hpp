// SPDX-License-Identifier: MIT
#pragma once

#include "serve/options.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"

namespace skua::cli {

/// Adds the HTTPS options and a check of their combinations; `options` must outlive the parser.
void declare_https(CLI::App& parser, ServeOptions& options);

/// Adds Strict-Transport-Security to the responses if --hsts is set.
void add_transport_security(Router& router, const ServeOptions& options);

/// Returns the options of the server that redirects plain HTTP to HTTPS.
ServerOptions redirect_options(const ServeOptions& options);

/// Prints the fingerprint of a self-signed certificate and the redirected URL, if any, on stderr.
void announce_https(const ServeOptions& options, const Server& server, const Server* redirect);

}  // namespace skua::cli
