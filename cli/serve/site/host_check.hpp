// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "configure.hpp"
#include "skua/options.hpp"
#include "skua/request.hpp"
#include "skua/router.hpp"

namespace skua::cli {

struct ServeOptions;
struct SiteOptions;

// A page of an attacker can give its own name the address of this machine (DNS rebinding). To a
// browser, this server is then the page's origin, and its responses may be read; but Host has the
// name.

/// Adds --allow-host.
void declare_allowed_hosts(CLI::App& parser, SiteOptions& options);

/// Reports whether only programs of this machine can connect.
bool is_local(const ServerOptions& server);

/// Reports whether a client asked for an address, for localhost or a name below it, or for a host
/// of --allow-host.
bool is_for_this_machine(const Request& request, const SiteOptions& options);

/// Refuses requests for other hosts if the server listens on loopback, and nothing else decides who
/// may read: a login, the names of a certificate or of --vhost, trusted proxies, --upload-anyone.
void add_host_check(Router& router, const ServeOptions& options);

/// Adds that check to routes for operators if their server listens on loopback.
void add_host_check(Router& operators, const ServerOptions& server, const ServeOptions& options);

}  // namespace skua::cli
