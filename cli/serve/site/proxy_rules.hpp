// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "skua/client_metrics.hpp"
#include "skua/client_options.hpp"
#include "skua/error.hpp"
#include "skua/router.hpp"

namespace skua::cli {

/// Passes the requests for a path, and for all paths below it, to another server.
struct ProxyRule {
  std::string prefix{};
  std::string upstream{};  ///< as in ReverseProxy
};

/// Parses `PREFIX=URL`, and adds the rule.
///
/// Ends with: std::invalid_argument if it is malformed, or if there is a rule for the prefix.
void add_proxy_rule(std::vector<ProxyRule>& rules, const std::string& text);

/// Adds the routes of the rules, whose requests are counted. Names of servers that are not in
/// `hosts` are looked up and added to it: later, in the sandbox, that is not possible. If a name
/// cannot be resolved, a text that says so is added to `unresolved`, and requests look it up.
void add_proxies(Router& router, const std::vector<ProxyRule>& rules,
                 std::vector<HostOverride>& hosts, std::vector<std::string>& unresolved,
                 const ClientMetrics& metrics);

/// Returns the TCP ports of the servers, each once.
std::vector<std::uint16_t> upstream_ports(const std::vector<ProxyRule>& rules);

}  // namespace skua::cli
