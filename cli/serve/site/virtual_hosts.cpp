// SPDX-License-Identifier: MIT
// In: the values of --vhost, and requests. Out: the site of the host that a request names. Sites
// share nothing but logins that were verified and the rate limit: each has its own folder, caches,
// pages and uploads.
#include "serve/site/virtual_hosts.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "http/uri/authority.hpp"
#include "router/table.hpp"
#include "serve/options.hpp"
#include "skua/address.hpp"
#include "skua/next.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t max_host_bytes = 255;  // RFC 1035 §2.3.4
constexpr std::string_view wildcard = "*.";

[[noreturn]] void refuse_host(const std::string& text, const char* why) {
  throw std::invalid_argument("'" + text + "' " + why);
}

// Returns the form in which hosts are compared: lower case, no dot at the end, one form of an IPv6
// address.
std::string comparable(std::string_view host) {
  if (host.starts_with('[')) {
    const auto address = Address::parse(host, 0);
    std::array<char, Address::max_text_bytes> text;
    if (address) return std::string(address->format_host(text));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string lower(host);
  std::ranges::transform(lower, lower.begin(), ascii::to_lower);
  return lower;
}

// Reports whether labels are not empty and contain letters, digits, `-` and `_` only.
bool is_host_name(std::string_view name) {
  const auto is_known = [](char c) {
    return ascii::is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= max_host_bytes && std::ranges::all_of(name, is_known) &&
         !name.starts_with('.') && !name.ends_with('.') && name.find("..") == name.npos;
}

bool is_ipv6(const std::string& host) {
  return host.starts_with('[') && host.ends_with(']') && Address::parse(host, 0).has_value();
}

/// The site of a request, and its place in it.
struct HostRoute {
  std::shared_ptr<const Router> router{};
  router::Match match{};
};

/// Chooses the site of a request.
class Hosts {
 public:
  using Routers = std::map<std::string, std::shared_ptr<const Router>>;  // by folder

  Hosts(std::vector<VirtualHost> hosts, Routers routers, const std::string& folder)
      : hosts_(std::move(hosts)), routers_(std::move(routers)), other_(routers_.at(folder)) {}

  [[nodiscard]] const std::shared_ptr<const Router>& find(std::string_view authority) const {
    const VirtualHost* const host = find_virtual_host(hosts_, authority);
    return host == nullptr ? other_ : routers_.at(host->folder);
  }

 private:
  std::vector<VirtualHost> hosts_;
  Routers routers_;
  std::shared_ptr<const Router> other_;
};

Task<Response> pass_on(const HostRoute& route, Request& request) {
  return route.router->start(route.match, request);
}

void finish_for_host(const Request& request, Response& response) {
  const HostRoute* const route = request.attachments().find<HostRoute>();
  if (route == nullptr) return;  // there was no memory for it
  router::for_each_finisher(*route->match.scope,
                            [&](const detail::Erased<detail::FinisherCall>& finisher) {
                              finisher.call(finisher.object.get(), request, response);
                            });
}

/// Passes requests to the router of their host.
class PassToHost {
 public:
  static constexpr bool routes_path = true;

  explicit PassToHost(std::shared_ptr<const Hosts> hosts) : hosts_(std::move(hosts)) {}
  Task<Response> operator()(Request& request, Next) const {
    const std::shared_ptr<const Router>& router = hosts_->find(request.host());
    HostRoute& route = request.attachments().set(HostRoute{.router = router});
    route.match = router->match(request);
    return pass_on(route, request);
  }

 private:
  std::shared_ptr<const Hosts> hosts_;
};

Router choose_by_host(std::shared_ptr<const Hosts> hosts) {
  Router front;
  front.use(PassToHost(std::move(hosts)));
  front.use(&finish_for_host);
  return front;
}

}  // namespace

std::string host_pattern(const std::string& written) {
  std::string name = comparable(written);
  const bool is_wildcard = name.starts_with(wildcard);
  const bool is_name = is_host_name(is_wildcard ? name.substr(wildcard.size()) : name);
  if (!is_name && !is_ipv6(written)) {
    refuse_host(written,
                "is not a host such as example.com, *.example.com or [::1], without a port");
  }
  return name;
}

void add_virtual_host(std::vector<VirtualHost>& hosts, const std::string& text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) refuse_host(text, "is not HOST=DIR");
  const std::string written = text.substr(0, sign);
  VirtualHost host{.name = host_pattern(written), .folder = text.substr(sign + 1)};
  if (host.folder.empty()) refuse_host(text, "names no folder");
  if (std::ranges::find(hosts, host.name, &VirtualHost::name) != hosts.end()) {
    refuse_host(written, "has two folders");
  }
  hosts.push_back(std::move(host));
}

const VirtualHost* find_virtual_host(const std::vector<VirtualHost>& hosts,
                                     std::string_view authority) {
  const std::string_view host = http::host_of(authority);
  if (host.empty() || host.size() > max_host_bytes) return nullptr;
  const std::string name = comparable(host);
  const VirtualHost* found = nullptr;
  for (const VirtualHost& one : hosts) {
    if (one.name == name) return &one;
    if (!one.name.starts_with(wildcard)) continue;
    const std::string_view end = std::string_view(one.name).substr(1);  // `.example.com`
    const bool is_below = name.size() > end.size() && name.ends_with(end) && name.front() != '.';
    if (is_below && (found == nullptr || one.name.size() > found->name.size())) found = &one;
  }
  return found;
}

void declare_virtual_hosts(CLI::App& parser, SiteOptions& options) {
  add_rules(parser, "--vhost", "HOST=DIR ...",
            "Serve another folder for a host, such as '*.example.com=sites/example'",
            [&options](const std::string& text) { add_virtual_host(options.hosts, text); });
}

std::vector<std::string> served_folders(const ServeOptions& options) {
  std::vector<std::string> folders;
  if (!options.folder.empty()) folders.push_back(options.folder);
  for (const VirtualHost& host : options.site.hosts) {
    if (std::ranges::find(folders, host.folder) == folders.end()) folders.push_back(host.folder);
  }
  return folders;
}

bool is_served(const std::string& path, const ServeOptions& options) {
  return std::ranges::any_of(served_folders(options), [&path](const std::string& folder) {
    const auto below = std::filesystem::path(path).lexically_relative(resolved(folder));
    return !below.empty() && *below.begin() != "..";
  });
}

std::string virtual_hosts_text(const ServeOptions& options) {
  std::string text;
  for (const VirtualHost& host : options.site.hosts) {
    text.append("serving ").append(host.folder).append(" for ").append(host.name).append("\n");
  }
  return text;
}

Result<ServedSite, Problem> make_sites(const ServeOptions& options, SiteMemory before) {
  if (options.site.hosts.empty()) return make_site(options, std::move(before));
  Hosts::Routers routers;
  for (std::string& folder : served_folders(options)) {
    ServeOptions own = options;
    own.folder = folder;
    auto site = make_site(own, std::move(before));
    if (!site) return site;
    before = std::move(site->memory);
    routers.emplace(std::move(folder), std::make_shared<const Router>(std::move(site->router)));
  }
  auto hosts =
      std::make_shared<const Hosts>(options.site.hosts, std::move(routers), options.folder);
  return ServedSite{.router = choose_by_host(std::move(hosts)), .memory = std::move(before)};
}

}  // namespace skua::cli
