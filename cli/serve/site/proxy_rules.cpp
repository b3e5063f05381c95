// SPDX-License-Identifier: MIT
// In: the values of --proxy. Out: routes to other servers, and what the sandbox has to permit.
#include "serve/site/proxy_rules.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "files/safe_path.hpp"
#include "net/name_lookup.hpp"
#include "proxy/server_url.hpp"
#include "skua/address.hpp"
#include "skua/pattern.hpp"
#include "skua/reverse_proxy.hpp"

namespace skua::cli {
namespace {

[[noreturn]] void refuse_rule(const std::string& text, const char* why) {
  throw std::invalid_argument("'" + text + "' " + why);
}

// Looks a name up, unless that is done.
void know(const std::string& host, std::vector<HostOverride>& hosts,
          std::vector<std::string>& unresolved) {
  if (std::ranges::find(hosts, host, &HostOverride::host) != hosts.end()) return;
  const auto found = net::look_up(host);
  if (!found) {
    std::string why = "--proxy: cannot resolve the name " + host + ": " + found.error().message();
    if (std::ranges::find(unresolved, why) == unresolved.end())
      unresolved.push_back(std::move(why));
    return;
  }
  std::array<char, Address::max_text_bytes> text;
  hosts.push_back({.host = host, .address = std::string(found->front().format_host(text))});
}

}  // namespace

void add_proxy_rule(std::vector<ProxyRule>& rules, const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) refuse_rule(text, "is not PREFIX=URL");
  ProxyRule rule{.prefix = text.substr(0, sign), .upstream = text.substr(sign + 1)};
  while (rule.prefix.ends_with('/')) rule.prefix.pop_back();
  const bool has_wildcard = rule.prefix.find_first_of("{}*") != text.npos;
  if (rule.prefix.empty() || has_wildcard ||
      !files::is_safe_path(rule.prefix, {.dotfiles = true})) {
    refuse_rule(text.substr(0, sign), "is not the beginning of a path, such as /api");
  }
  if (std::ranges::find(rules, rule.prefix, &ProxyRule::prefix) != rules.end()) {
    refuse_rule(rule.prefix, "is passed on to two servers");
  }
  static_cast<void>(ReverseProxy(rule.upstream));  // throws if it is not a server
  rules.push_back(std::move(rule));
}

void add_proxies(Router& router, const std::vector<ProxyRule>& rules,
                 std::vector<HostOverride>& hosts, std::vector<std::string>& unresolved,
                 const ClientMetrics& metrics) {
  for (const ProxyRule& rule : rules) {
    const auto server = proxy::ServerUrl::parse(rule.upstream);
    if (server.has_name()) know(server.url.hostname(), hosts, unresolved);
    ReverseProxyOptions options;
    options.hosts = hosts;
    options.metrics = metrics;
    reverse_proxy(router, RuntimePattern(rule.prefix), rule.upstream, options);
  }
}

std::vector<std::uint16_t> upstream_ports(const std::vector<ProxyRule>& rules) {
  std::vector<std::uint16_t> ports;
  for (const ProxyRule& rule : rules) {
    const auto server = proxy::ServerUrl::parse(rule.upstream);
    if (!server.unix_socket.empty()) continue;
    const std::uint16_t port = server.url.effective_port().value_or(0);
    if (std::ranges::find(ports, port) == ports.end()) ports.push_back(port);
  }
  return ports;
}

}  // namespace skua::cli
