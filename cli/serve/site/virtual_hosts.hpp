// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configure.hpp"
#include "serve/site/site.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// Parses `HOST=DIR`, and adds it. HOST is a name or an address without a port, or `*.` and a name.
///
/// Ends with: std::invalid_argument if it is malformed, or if the host has a folder already.
void add_virtual_host(std::vector<VirtualHost>& hosts, const std::string& text);

/// Returns the name of such a HOST in the form in which names are compared.
///
/// Ends with: std::invalid_argument if it is malformed.
std::string host_pattern(const std::string& written);

/// Returns the host for an authority, as requests have it: the one with the same name, otherwise
/// the one with the longest wildcard that stands for it; nullptr if there is none. A port, letter
/// case and a dot at the end make no difference.
const VirtualHost* find_virtual_host(const std::vector<VirtualHost>& hosts,
                                     std::string_view authority);

/// Adds the option to the command; `options` must outlive the parser.
void declare_virtual_hosts(CLI::App& parser, SiteOptions& options);

/// Returns DIR and the folders of the hosts, each once; none if a server has no folder.
std::vector<std::string> served_folders(const ServeOptions& options);

/// Reports whether a path, whose links are resolved, is in one of them: clients could ask for it.
bool is_served(const std::string& path, const ServeOptions& options);

/// Returns a line for each host that says which folder it has; empty if there are none.
std::string virtual_hosts_text(const ServeOptions& options);

/// Makes the site of each folder, all with the same options, and a router that chooses one by the
/// host that a request names; DIR is for all others.
///
/// Ends with: the error of the first site that cannot be made.
Result<ServedSite, Problem> make_sites(const ServeOptions& options, SiteMemory before = {});

}  // namespace skua::cli
