// SPDX-License-Identifier: MIT
// In: a request to a server on loopback. Out: 403 if it names a host that is not this machine.
#include "serve/site/host_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "http/uri/authority.hpp"
#include "serve/options.hpp"
#include "serve/site/site_options.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "skua/address.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view any_host = "*";

// RFC 6761 §6.3: browsers and resolvers do not ask others for these names.
bool is_localhost(std::string_view host) noexcept {
  constexpr std::string_view name = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < name.size()) return false;
  const std::string_view end = host.substr(host.size() - name.size());
  const bool is_below = host.size() > name.size() && host[host.size() - name.size() - 1] == '.';
  return ascii::equals_ignoring_case(end, name) && (host.size() == name.size() || is_below);
}

// No name in DNS ends in a label of digits, and browsers take such a host for an IPv4 address or
// refuse it (RFC 3696 §2, the URL standard).
bool is_address(std::string_view host) noexcept {
  if (host.starts_with('[')) return true;
  const std::string_view label = host.substr(host.rfind('.') + 1);  // npos + 1 is 0
  return !label.empty() && std::ranges::all_of(label, &ascii::is_digit);
}

bool is_on_this_machine(const Address& address) noexcept {
  return address.family() == Address::Family::Unix || address.is_loopback();
}

// No browser connects to a Unix socket, and a proxy that does passes the names of its clients on.
bool is_on_loopback(const ServerOptions& server) {
  if (!is_local(server)) return false;
  if (server.listeners.empty()) return !server.host.starts_with("unix:");
  return std::ranges::any_of(server.listeners, [](const ListeningSocket& listener) {
    return listener.socket->local_address().is_loopback();
  });
}

/// Refuses requests for the names of others.
class HostCheck {
 public:
  static constexpr bool ignores_path = true;

  explicit HostCheck(SiteOptions options) : options_(std::move(options)) {}

  std::optional<Response> operator()(Request& request) const {
    // Browsers always send a host.
    if (request.host().empty() || is_for_this_machine(request, options_)) return std::nullopt;
    return Response(Status::Forbidden,
                    "This server is for http://localhost only. To serve another name, start it "
                    "with --allow-host NAME.\n");
  }

 private:
  SiteOptions options_;
};

SiteOptions names_of(const ServeOptions& options) {
  return SiteOptions{.allowed_hosts = options.site.allowed_hosts};
}

}  // namespace

void declare_allowed_hosts(CLI::App& parser, SiteOptions& options) {
  add_rules(parser, "--allow-host", "HOST ...",
            "On loopback, also serve requests for this host, such as '*.example.com'; '*' for all",
            [&options](const std::string& text) {
              const std::string name = text == any_host ? text : host_pattern(text);
              options.allowed_hosts.push_back({.name = name});
            });
}

bool is_local(const ServerOptions& server) {
  if (server.trusted_proxies != nullptr) return false;  // they have clients elsewhere
  if (!server.listeners.empty()) {
    return std::ranges::all_of(server.listeners, [](const ListeningSocket& listener) {
      return is_on_this_machine(listener.socket->local_address());
    });
  }
  if (server.host == "localhost" || server.host.starts_with("unix:")) return true;
  const auto address = Address::parse(server.host, server.port);
  return address && is_on_this_machine(*address);
}

bool is_for_this_machine(const Request& request, const SiteOptions& options) {
  const std::string_view host = http::host_of(request.host());
  if (is_address(host) || is_localhost(host)) return true;
  const auto& allowed = options.allowed_hosts;
  return std::ranges::find(allowed, any_host, &VirtualHost::name) != allowed.end() ||
         find_virtual_host(allowed, request.host()) != nullptr;
}

void add_host_check(Router& router, const ServeOptions& options) {
  const bool has_login = options.site.login || !options.auth.empty();
  const bool has_names = !options.site.hosts.empty() || options.server.tls.is_enabled();
  const bool is_for_anyone = options.uploads.anyone || options.webdav.anyone;
  if (has_login || has_names || is_for_anyone || !is_on_loopback(options.server)) return;
  router.use(HostCheck(names_of(options)));
}

void add_host_check(Router& operators, const ServerOptions& server, const ServeOptions& options) {
  if (is_on_loopback(server)) operators.use(HostCheck(names_of(options)));
}

}  // namespace skua::cli
