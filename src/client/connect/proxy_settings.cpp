// SPDX-License-Identifier: MIT
// In: a list. Out: entries that hosts are matched against. An address is a network of one.
#include "client/connect/proxy_settings.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/uri/url_parts.hpp"
#include "tls/certificate_names.hpp"

namespace skua::client {
namespace {

constexpr std::string_view separators = ", \t\r\n";

/// Parses a network or an address, with or without brackets and a zone.
std::optional<Network> network_of(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view host = text.substr(0, slash);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  host = host.substr(0, host.find('%'));
  const auto network = Network::parse(std::string(host).append(text.substr(slash)));
  return network ? std::optional(*network) : std::nullopt;
}

/// Strips a port such as `:8080`, if any, from the end. Returns false if it is malformed.
bool take_port(std::string_view& text, std::uint16_t& port) noexcept {
  const std::size_t begin = text.starts_with('[') ? text.find(']') : 0;
  const std::size_t colon = text.find(':', begin);
  if (colon == std::string_view::npos) return true;
  port = http::port_number(text.substr(colon + 1)).value_or(0);
  text = text.substr(0, colon);
  return port != 0;
}

}  // namespace

struct NoProxy::Host {
  std::string name{};
  std::optional<Network> address{};
  std::uint16_t port = 0;
};

NoProxy NoProxy::parse(std::string_view list) {
  NoProxy rules;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    const std::string_view text = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    Entry entry;
    if (read(text, entry)) rules.entries_.push_back(std::move(entry));
  }
  return rules;
}

bool NoProxy::read(std::string_view text, Entry& entry) {
  entry.network = network_of(text);  // before looking for a port's colon: IPv6 has some
  if (!entry.network && text.find('/') != std::string_view::npos) return false;
  if (!entry.network && !take_port(text, entry.port)) return false;
  if (text == "*") return true;
  if (!entry.network) entry.network = network_of(text);
  if (entry.network) {
    entry.kind = Kind::Network;
    return true;
  }
  entry.kind = text.starts_with("*.") ? Kind::Below : Kind::Name;
  if (entry.kind == Kind::Below) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  entry.text = tls::normal_name(text);
  return !entry.text.empty();
}

bool NoProxy::contains(std::string_view host, std::uint16_t port) const {
  const Host asked{tls::normal_name(host), network_of(host), port};
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return fits(entry, asked); });
}

bool NoProxy::fits(const Entry& entry, const Host& host) noexcept {
  if (entry.port != 0 && entry.port != host.port) return false;
  if (entry.kind == Kind::All) return true;
  if (host.address.has_value() != (entry.kind == Kind::Network)) return false;
  if (entry.kind == Kind::Network) return entry.network->contains(*host.address);
  const std::string_view name = host.name;
  if (entry.kind == Kind::Name && name == entry.text) return true;
  const std::size_t size = entry.text.size();
  return name.size() > size + 1 && name.ends_with(entry.text) &&
         name[name.size() - size - 1] == '.';
}

// Turns environment variables into settings, and an origin into the route to it.

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
  const bool is_tunnelled = origin.is_secure || is_websocket || proxy->is_socks();
  return is_tunnelled ? ProxyUse::Tunnel : ProxyUse::Forward;
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
