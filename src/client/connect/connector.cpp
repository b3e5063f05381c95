// SPDX-License-Identifier: MIT
// In: an origin. Out: a stream. Resolves the name, races its addresses and does TLS; with a proxy,
// does all of that with the proxy, then opens the tunnel and does TLS in it. Each phase keeps its
// state in an object in the task's frame, so that dropping the task ends it.
#include "client/connect/connector.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "client/connect/socks5.hpp"
#include "client/connect/socks_tunnel.hpp"
#include "client/connect/tunnel.hpp"
#include "sockets/handshake.hpp"

namespace skua::client {
namespace {

constexpr unsigned max_proxy_connections = 3;
constexpr std::size_t max_socks_targets = 4;

struct SocksTarget {
  std::string host{};
  std::uint16_t port = 0;
};

// Addresses of the two IP versions take turns, as when connecting directly.
std::vector<SocksTarget> targets_of(const Addresses& addresses) {
  std::vector<SocksTarget> targets;
  for (const Address& one : sockets::take_turns(addresses)) {
    if (targets.size() == max_socks_targets) break;
    std::array<char, Address::max_text_bytes> text;
    targets.push_back({std::string(one.format_host(text)), one.port()});
  }
  return targets;
}

std::string without_brackets(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host;
}

std::string tunnel_step(const Origin& origin, const Proxy& proxy) {
  return "open a tunnel to " + origin.to_string() + " through proxy " + proxy.origin.to_string();
}

/// Fails if TLS is required but cannot be attempted.
Result<void, Problem> check_tls(const Origin& origin, const std::string& whom,
                                const tls::ClientContext* tls) {
  const std::string step = "speak TLS with " + whom;
  if (!origin.is_secure) return {};
  if (tls == nullptr) return could_not(step, Error(Errc::Unsupported, "TLS"), "it is not set up");
  const std::string_view fault = tls::ClientContext::fault_of(without_brackets(origin.host));
  if (fault.empty()) return {};
  return could_not(step, Errc::InvalidHost, std::string(fault));
}

// The socket of a new connection has room for a few hundred bytes.
Result<void, Problem> begin_with(net::Stream& stream, const std::string& whom,
                                 const std::string& preface) {
  const net::Slice slice{preface.data(), preface.size()};
  if (preface.empty() || stream.try_send({&slice, 1}).bytes == preface.size()) return {};
  return could_not("begin the connection to " + whom, Error(Errc::Closed, "send"));
}

}  // namespace

Connector::Connector(loop::Loop& loop, Resolver& resolver, OpenStream open)
    : loop_(loop), resolver_(resolver), open_(std::move(open)) {}

Task<Connector::Connected> Connector::connect(const Origin& origin, const ConnectOptions& options) {
  return establish(origin, options);
}

Task<Connector::Connected> Connector::establish(Origin origin, ConnectOptions options) {
  const std::string whom = origin.to_string();
  // Checked before a proxy learns of the origin.
  if (auto checked = check_tls(origin, whom, options.tls.get()); !checked)
    co_return std::move(checked).error();
  const bool is_proxied = options.proxy != nullptr && origin.unix_path.empty();
  if (!is_proxied) {
    Connected straight = co_await open(origin, whom, options.tls.get(), options);
    co_return straight;
  }
  const bool is_socks = options.proxy->proxy().is_socks();
  if (!origin.is_secure && !options.tunnels && !is_socks) {
    Connected forwarding = co_await to_proxy(options);
    co_return forwarding;
  }
  Connected through = co_await tunnel(origin, options);
  if (!through || !origin.is_secure) co_return through;
  Connected both_ends =
      co_await secure(*std::move(through), origin, whom, *options.tls, options.tls_limit);
  if (both_ends && options.times != nullptr) options.times->secured = loop_.now();
  co_return both_ends;
}

/// Connects directly to an origin or a proxy, with TLS if it is secure.
Task<Connector::Connected> Connector::open(const Origin& origin, std::string whom,
                                           const tls::ClientContext* tls,
                                           const ConnectOptions& options) {
  if (auto checked = check_tls(origin, whom, tls); !checked) co_return std::move(checked).error();
  const Result<OpenStream, Problem> open_stream = opener(origin, options);
  if (!open_stream) co_return open_stream.error();
  Result<Addresses, Problem> addresses = co_await addresses_of(origin, options.resolve_limit);
  if (!addresses) co_return addresses.error();
  if (options.times != nullptr) options.times->resolved = loop_.now();
  const net::TimeLimit limit{options.connect_limit, "ClientTimeouts::connect"};
  Connected connected =
      co_await sockets::reach(loop_, *open_stream, whom, *std::move(addresses), limit);
  if (!connected) co_return connected;
  if (options.times != nullptr) options.times->connected = loop_.now();
  if (auto begun = begin_with(**connected, whom, options.preface); !begun) {
    co_return std::move(begun).error();
  }
  if (!origin.is_secure) co_return connected;
  Connected encrypted =
      co_await secure(*std::move(connected), origin, whom, *tls, options.tls_limit);
  if (encrypted && options.times != nullptr) options.times->secured = loop_.now();
  co_return encrypted;
}

Task<Connector::Connected> Connector::to_proxy(const ConnectOptions& options) {
  const Origin& proxy = options.proxy->proxy().origin;
  return open(proxy, "proxy " + proxy.to_string(), options.proxy_tls.get(), options);
}

Task<Connector::Connected> Connector::tunnel(const Origin& origin, const ConnectOptions& options) {
  const bool is_socks = options.proxy->proxy().is_socks();
  return is_socks ? socks_tunnel(origin, options) : http_tunnel(origin, options);
}

/// Reconnects if needed: a proxy may close the connection on which it sends a challenge.
Task<Connector::Connected> Connector::http_tunnel(const Origin& origin,
                                                  const ConnectOptions& options) {
  const std::string step = tunnel_step(origin, options.proxy->proxy());
  for (unsigned connections = 0; connections < max_proxy_connections; ++connections) {
    Connected connected = co_await to_proxy(options);
    if (!connected) co_return connected;
    Tunnel attempt(loop_, *std::move(connected), origin, *options.proxy);
    const Result<Tunnel::End, Problem> end = co_await attempt.run(step, options.tunnel_limit);
    if (!end) co_return end.error();
    if (*end == Tunnel::End::Open) co_return attempt.take_stream();
  }
  co_return could_not(step, Error(Errc::ProxyRefused, "proxy"),
                      "it closes every connection after asking for credentials");
}

/// Names are resolved here unless the proxy does that. If it cannot reach one address, it is asked
/// for the next: its network may have fewer IP versions than ours.
Task<Connector::Connected> Connector::socks_tunnel(const Origin& origin,
                                                   const ConnectOptions& options) {
  const Proxy& proxy = options.proxy->proxy();
  const std::string step = tunnel_step(origin, proxy);
  std::vector<SocksTarget> targets(1, SocksTarget{without_brackets(origin.host), origin.port});
  if (proxy.kind == ProxyKind::Socks5) {
    Result<Addresses, Problem> addresses = co_await addresses_of(origin, options.resolve_limit);
    if (!addresses) co_return addresses.error();
    targets = targets_of(*addresses);
  }
  for (std::size_t i = 0;; ++i) {
    Connected connected = co_await to_proxy(options);
    if (!connected) co_return connected;
    Socks5 dialogue(targets[i].host, targets[i].port, proxy.user, proxy.password);
    SocksTunnel attempt(loop_, *std::move(connected), std::move(dialogue));
    const Result<void, Problem> opened = co_await attempt.run(step, options.tunnel_limit);
    if (opened) co_return attempt.take_stream();
    const bool is_last = i + 1 >= targets.size();
    if (is_last || !attempt.may_try_another_address()) co_return opened.error();
  }
}

Task<Connector::Connected> Connector::secure(net::HeldStream stream, const Origin& origin,
                                             std::string whom, const tls::ClientContext& tls,
                                             Duration limit) {
  sockets::Handshake handshake(loop_, std::move(stream),
                               tls.connect(without_brackets(origin.host), origin.port));
  const net::TimeLimit named{limit, "ClientTimeouts::handshake"};
  Connected encrypted = co_await handshake.run("speak TLS with " + whom, named);
  co_return encrypted;
}

Result<OpenStream, Problem> Connector::opener(const Origin& origin,
                                              const ConnectOptions& options) const {
  if (options.network_interface.empty() || !origin.unix_path.empty()) return open_;
  Result<net::LocalEnd, Problem> from = net::LocalEnd::find(options.network_interface);
  if (!from) return std::move(from).error();
  return sockets::open_from(*std::move(from));
}

Task<Result<Addresses, Problem>> Connector::addresses_of(const Origin& origin, Duration limit) {
  if (origin.unix_path.empty()) {
    const net::TimeLimit named{limit, "ClientTimeouts::resolve"};
    Result<Addresses, Problem> found = co_await resolver_.resolve(origin.host, origin.port, named);
    co_return found;
  }
  const Result<Address> address = Address::unix_path(origin.unix_path);
  if (!address) co_return could_not("connect to " + origin.to_string(), address.error());
  Addresses one(1, *address);
  co_return one;
}

}  // namespace skua::client
