// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/options.hpp"
#include "skua/error.hpp"
#include "skua/ip_filter.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::cli {

/// Returns the rules of --allow and --deny; reads their files.
///
/// Ends with: a text that names the option or file and the line; also if there are --allow options,
///            but all their files are empty: that would allow everyone.
Result<IpRules, Problem> read_ip_rules(const ServeOptions& options);

/// Returns the files of --allow and --deny.
std::vector<std::string> ip_rule_files(const ServeOptions& options);

/// Returns the proxies of --trust-proxy, whose files are read; null if there are none.
///
/// Ends with: a text, as above; also if nothing is believed of them.
Result<std::shared_ptr<const TrustedProxies>, Problem> read_trusted_proxies(
    const ServeOptions& options);

}  // namespace skua::cli
