// SPDX-License-Identifier: MIT
// In: a command line. Out: a gateway, which is a server of `skua serve` with other content.
#include "proxy/command.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.hpp"
#include "proxy/options.hpp"
#include "proxy/server_url.hpp"
#include "serve/command.hpp"
#include "serve/tls.hpp"
#include "skua/client_metrics.hpp"
#include "skua/metrics.hpp"
#include "skua/reverse_proxy.hpp"
#include "skua/router.hpp"
#include "skua/upstream.hpp"

namespace skua::cli {
namespace {

std::string names_of(const std::vector<UpstreamTarget>& targets) {
  std::string names;
  for (const UpstreamTarget& target : targets) {
    if (!names.empty()) names.append(", ");
    names.append(proxy::ServerUrl::parse(target.url).name());
  }
  return names;
}

// The sandbox permits connections to the ports of the servers, but no lookups of names.
void prepare_sandbox(GatewayOptions& options) {
  std::vector<std::string> urls;
  urls.reserve(options.upstream.targets.size() + 1);
  const std::uint16_t checked_port = options.upstream.health.port;
  for (const UpstreamTarget& target : options.upstream.targets) {
    urls.push_back(target.url);
    proxy::ServerUrl server = proxy::ServerUrl::parse(target.url);
    if (checked_port == 0 || !server.unix_socket.empty()) continue;
    server.url.set_port(checked_port).value();
    urls.push_back(server.url.to_string());
  }
  if (options.upstream.mirror.to) urls.push_back(options.mirror);
  for (std::string& url : urls) {
    if (proxy::ServerUrl::parse(url).has_name()) options.server.sandbox = false;
    options.server.site.proxies.push_back({.prefix = "/", .upstream = std::move(url)});
  }
}

// A load balancer in front had better send requests to another gateway, if there is one.
Result<void, Problem> check_targets(const Upstream& upstream) {
  const auto is_up = [](const UpstreamTargetStatus& target) {
    return target.state == UpstreamTargetStatus::State::Up;
  };
  if (std::ranges::any_of(upstream.targets(), is_up)) return {};
  return Problem{Errc::Unreachable, "no target is up"};
}

// A request, and each WebSocket, needs a connection of its client and one to a target, and checks
// of the targets need some, too. So clients get 7 of 16 files that may be open; others wait until
// they are accepted.
void share_open_files(ServerOptions& server) {
  if (server.raise_open_files) base::raise_open_files_limit();
  const std::size_t share = base::open_files_limit() / 16 * 7;
  server.limits.connections = std::min(server.limits.connections, std::max<std::size_t>(share, 1));
}

int run_gateway(GatewayOptions& options) {
  prepare_sandbox(options);
  share_open_files(options.server.server);
  // Once the server has a log, before its threads are started.
  options.upstream.log = [&options](LogLevel level, std::string_view line) {
    if (const auto& log = options.server.server.hooks.log) log(level, line);
  };
  const Upstream upstream(options.upstream);
  const ClientMetrics client(upstream.name());
  options.proxy.metrics = client;
  const auto make = [&options, &upstream](SiteMemory memory) -> Result<ServedSite, Problem> {
    ServedSite site{.memory = std::move(memory)};
    add_transport_security(site.router, options.server);
    site.router.any("/{path...}", ReverseProxy(upstream, options.proxy));
    return site;
  };
  return run_server(options.server,
                    {.make = make,
                     .text = "passing requests on to " + names_of(options.upstream.targets),
                     .measure =
                         [&upstream, &client](Metrics& metrics, const SiteMemory&) {
                           collect_upstreams(metrics, {upstream});
                           collect_clients(metrics, {client});
                         },
                     .check =
                         [&upstream](Health& health) {
                           health.check("targets", [&upstream] { return check_targets(upstream); });
                         }});
}

}  // namespace

std::function<int()> configure_proxy(CLI::App& parser) {
  const auto options = std::make_shared<GatewayOptions>();
  declare(parser, *options);
  return [options] { return run_gateway(*options); };
}

}  // namespace skua::cli
