// SPDX-License-Identifier: MIT
#pragma once

#include "serve_options.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"

namespace skua::cli {

/// Adds the options of HTTPS, and the check that they go together; `options` outlives the parser.
void declare_https(CLI::App& parser, ServeOptions& options);

/// Has the responses say what the options want said over TLS.
void add_transport_security(Router& router, const ServeOptions& options);

/// The options of the server that redirects to `server`, which listens.
ServerOptions redirect_options(const ServeOptions& options);

/// Says on stderr how to know the certificate that was made, and where plain HTTP is redirected.
void announce_https(const ServeOptions& options, const Server& server, const Server* redirect);

}  // namespace skua::cli
