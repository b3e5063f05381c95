// SPDX-License-Identifier: MIT
// Turns environment variables into settings, and an origin into the route to it.
#include "client/proxy_settings.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace skua::client {
namespace {

// Requests to this machine must not leave it: at a proxy, these names would mean the proxy.
constexpr std::string_view this_machine = "localhost,127.0.0.0/8,::1";

struct Variable {
  std::string_view name{};
  std::string_view value{};
};

/// Returns the first variable that is set and not empty.
template <std::size_t Count>
Variable first_of(const Environment& environment, const std::array<const char*, Count>& names) {
  for (const char* const name : names) {
    const char* const value = environment(name);
    if (value != nullptr && *value != '\0') return {name, value};
  }
  return {};
}

Result<std::optional<Proxy>, Problem> read(const Variable& variable) {
  if (variable.value.empty()) return std::optional<Proxy>();
  Result<Proxy, Problem> proxy = Proxy::parse(variable.value);
  if (proxy) return std::optional<Proxy>(*std::move(proxy));
  Problem problem = proxy.error();
  problem.text.append(" (in the variable ").append(variable.name).append(")");
  return problem;
}

}  // namespace

Result<ProxySettings, Problem> ProxySettings::from(const Environment& environment,
                                                   std::string_view except) {
  auto http = read(first_of<3>(environment, {"http_proxy", "all_proxy", "ALL_PROXY"}));
  if (!http) return http.error();
  auto https =
      read(first_of<4>(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}));
  if (!https) return https.error();
  std::string exceptions(except.empty() ? first_of<2>(environment, {"no_proxy", "NO_PROXY"}).value
                                        : except);
  exceptions.append(",").append(this_machine);
  return ProxySettings{*std::move(http), *std::move(https), NoProxy::parse(exceptions)};
}

ProxyUse proxy_use(const Origin& origin, bool is_websocket, const ProxySettings& settings) {
  const std::optional<Proxy>& proxy = origin.is_secure ? settings.https : settings.http;
  if (!proxy || !origin.unix_path.empty()) return ProxyUse::None;
  if (settings.exceptions.contains(origin.host, origin.port)) return ProxyUse::None;
  return origin.is_secure || is_websocket ? ProxyUse::Tunnel : ProxyUse::Forward;
}

Proxies::Proxies(ProxySettings settings) : settings_(std::move(settings)) {
  if (settings_.http) http_ = std::make_shared<ProxyAccess>(*settings_.http);
  if (settings_.https) {
    https_ =
        settings_.https == settings_.http ? http_ : std::make_shared<ProxyAccess>(*settings_.https);
  }
}

Proxies::Route Proxies::route(const Origin& origin, bool is_websocket) const {
  const ProxyUse use = proxy_use(origin, is_websocket, settings_);
  if (use == ProxyUse::None) return {};
  return {use, origin.is_secure ? https_ : http_};
}

}  // namespace skua::client
