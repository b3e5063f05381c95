// SPDX-License-Identifier: MIT
// In: the values of --allow, --deny and --trust-proxy. Out: rules, or what is wrong with them.
#include "serve/ip_rules.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "get/request_items.hpp"

namespace skua::cli {
namespace {

constexpr char file_sign = '@';
constexpr std::string_view unix_proxies = "unix";

bool is_file(std::string_view value) noexcept { return value.starts_with(file_sign); }

/// Returns the networks that a value of the option stands for.
Result<std::vector<Network>, Problem> read(const char* option, const std::string& value) {
  if (!is_file(value)) {
    const Result<Network> network = Network::parse(value);
    if (network) return std::vector{*network};
    return Problem{network.error(), std::string(option) + ": \"" + value +
                                        "\" is not a network such as 10.0.0.0/8 or ::1"};
  }
  const std::string path = value.substr(1);
  const auto text = read_file(path);
  if (!text) return Problem{text.error().error, std::string(option) + ": " + text.error().text};
  auto networks = parse_networks(*text);
  if (networks) return networks;
  return Problem{networks.error().error,
                 std::string(option) + ": " + path + ", " + networks.error().text};
}

Result<std::vector<Network>, Problem> read_all(const char* option,
                                               const std::vector<std::string>& values) {
  std::vector<Network> all;
  for (const std::string& value : values) {
    auto networks = read(option, value);
    if (!networks) return networks;
    all.insert(all.end(), networks->begin(), networks->end());
  }
  return all;
}

}  // namespace

Result<IpRules, Problem> read_ip_rules(const ServeOptions& options) {
  auto allow = read_all("--allow", options.allow);
  if (!allow) return std::move(allow).error();
  auto deny = read_all("--deny", options.deny);
  if (!deny) return std::move(deny).error();
  if (allow->empty() && !options.allow.empty()) {
    return Problem{Error(Errc::InvalidAddress, "--allow"),
                   "--allow: the list is empty, which would allow everyone"};
  }
  return IpRules{*std::move(allow), *std::move(deny)};
}

std::vector<std::string> ip_rule_files(const ServeOptions& options) {
  std::vector<std::string> files;
  for (const auto* values : {&options.allow, &options.deny}) {
    for (const std::string& value : *values) {
      if (is_file(value)) files.push_back(value.substr(1));
    }
  }
  return files;
}

Result<std::shared_ptr<const TrustedProxies>, Problem> read_trusted_proxies(
    const ServeOptions& options) {
  if (options.proxies.empty()) return std::shared_ptr<const TrustedProxies>();
  if (options.forwarded == ForwardedFields::None && !options.proxy_protocol) {
    return Problem{Error(Errc::Unsupported, "--trust-proxy"),
                   "--trust-proxy: say how the proxies tell who the client is, with --forwarded or "
                   "--proxy-protocol"};
  }
  std::vector<std::string> values = options.proxies;
  const bool has_unix = std::erase(values, unix_proxies) != 0;
  auto networks = read_all("--trust-proxy", values);
  if (!networks) return std::move(networks).error();
  return std::make_shared<const TrustedProxies>(
      ProxyRules{.networks = *std::move(networks),
                 .unix_sockets = has_unix,
                 .forwarded = options.forwarded,
                 .proxy_protocol = options.proxy_protocol});
}

}  // namespace skua::cli
