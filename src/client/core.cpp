// SPDX-License-Identifier: MIT
#include "client/core.hpp"

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "client/problem.hpp"
#include "client/wire/h1_connection.hpp"
#include "client/wire/h2_connection.hpp"
#include "client/wire/websocket_connection.hpp"
#include "net/name_lookup.hpp"

namespace skua::client {
namespace {

constexpr std::size_t kept_blocks = 64;

PoolLimits pool_limits(const ClientOptions& options) {
  PoolLimits limits;
  limits.per_host = options.connections_per_host;
  limits.total = options.connections;
  limits.idle = options.timeouts.idle_connection;
  return limits;
}

h1::ResponseLimits response_limits(const ClientOptions& options) {
  h1::ResponseLimits limits;
  limits.head.head_bytes = options.limits.head_bytes;
  limits.head.fields = options.limits.fields;
  limits.head.field_line_bytes = options.limits.field_line_bytes;
  return limits;
}

std::vector<std::string> protocols(HttpVersions versions) {
  if (versions == HttpVersions::Http1) return {"http/1.1"};
  if (versions == HttpVersions::Http2) return {"h2"};
  return {"h2", "http/1.1"};
}

Result<std::shared_ptr<const tls::ClientContext>, Problem> make_context(
    const ClientOptions& options, bool only_http1) {
  return tls::ClientContext::create(
      options.tls, only_http1 ? std::vector<std::string>{"http/1.1"} : protocols(options.versions));
}

Url read_base(const std::string& text) {
  if (text.empty()) return {};
  const Result<Url> url = Url::parse_lenient(text);
  if (!url || !url->has_scheme() || !url->has_authority()) {
    throw std::invalid_argument("ClientOptions::base_url: '" + text + "' is not an absolute URL");
  }
  return *url;
}

template <class T>
T checked(Result<T, Problem> outcome) {
  if (!outcome) throw std::invalid_argument("ClientOptions::proxy: " + outcome.error().text);
  return *std::move(outcome);
}

ProxySettings proxy_settings(const ProxyOptions& options) {
  ProxySettings settings;
  if (!options.url.empty()) {
    settings.http = checked(Proxy::parse(options.url));
    settings.https = settings.http;
    settings.exceptions = NoProxy::parse(options.except);
  } else if (options.from_environment) {
    settings = checked(
        ProxySettings::from([](const char* name) { return std::getenv(name); }, options.except));
  }
  return settings;
}

Address::Family family_of(const ClientOptions& options) {
  using Family = Address::Family;
  const IpVersions versions = options.ip_versions;
  const Family wanted = versions == IpVersions::Ipv4   ? Family::Ipv4
                        : versions == IpVersions::Ipv6 ? Family::Ipv6
                                                       : Family::None;
  const Result<Address> from = Address::parse(options.network_interface, 0);
  if (!from || from->family() == wanted) return wanted;
  if (wanted == Family::None) return from->family();
  throw std::invalid_argument("ClientOptions::network_interface: '" + options.network_interface +
                              "' does not have the IP version of ClientOptions::ip_versions");
}

}  // namespace

ResolverOptions resolver_options(const ClientOptions& options) {
  ResolverOptions made;
  made.family = family_of(options);
  made.lookups.look_up = [family = made.family](const std::string& name) {
    return net::look_up_in(family, name);
  };
  for (const auto& [host, port, address] : options.hosts) {
    const Result<Address> where = Address::parse(address, 0);
    if (!where) {
      throw std::invalid_argument("ClientOptions::hosts: '" + address + "' is not an address");
    }
    made.overrides.push_back({host, port, *where});
  }
  return made;
}

namespace {

PeerFacts facts_of(const net::Stream& stream) {
  PeerFacts facts{stream.peer(), stream.tls()};
  if (!facts.tls) return facts;
  // A stream tells of its peer's certificate, which here is the server's.
  facts.tls->client_subject.clear();
  facts.tls->client_fingerprint.clear();
  facts.tls->is_client_verified = false;
  return facts;
}

}  // namespace

Result<TlsContexts, Problem> TlsContexts::create(const ClientOptions& options) {
  auto http = make_context(options, false);
  if (!http) return http.error();
  auto http1 = make_context(options, true);
  if (!http1) return http1.error();
  return TlsContexts{*std::move(http), *std::move(http1)};
}

Core::Core(loop::Loop& thread_loop, ClientOptions told, TlsContexts tls)
    : loop(thread_loop),
      options(std::move(told)),
      meter(MeterAccess::of(options.metrics)),
      base_url(read_base(options.base_url)),
      base_origin(origin_of(base_url, options.unix_socket)),
      base_key(base_origin.key()),
      proxies(proxy_settings(options.proxy)),
      resolver(loop, resolver_options(options)),
      connector(loop, resolver),
      blocks(kept_blocks),
      pool(loop, pool_limits(options), meter) {
  if (tls.http) http_tls_ = std::move(tls.http);
  if (tls.http1) http1_tls_ = std::move(tls.http1);
}

Result<std::shared_ptr<const tls::ClientContext>, Problem> Core::context(bool only_http1) {
  Context& made = only_http1 ? http1_tls_ : http_tls_;
  if (!made) made = make_context(options, only_http1);
  return *made;
}

Result<ConnectOptions, Problem> Core::connect_options(const Origin& origin, bool is_websocket) {
  ConnectOptions made;
  made.resolve_limit = options.timeouts.resolve;
  made.connect_limit = options.timeouts.connect;
  made.tls_limit = options.timeouts.handshake;
  made.tunnel_limit = options.timeouts.head;
  made.network_interface = options.network_interface;
  if (origin.is_secure) {
    auto tls = context(is_websocket);
    if (!tls) return tls.error();
    made.tls = *std::move(tls);
  }
  const Proxies::Route route = proxies.route(origin, is_websocket);
  if (route.use == ProxyUse::None) return made;
  made.proxy = route.proxy;
  made.tunnels = route.use == ProxyUse::Tunnel;
  if (route.proxy->proxy().origin.is_secure) {
    auto tls = context(true);
    if (!tls) return tls.error();
    made.proxy_tls = *std::move(tls);
  }
  return made;
}

Task<Result<std::unique_ptr<PooledConnection>, Problem>> Core::open(Origin origin,
                                                                    ConnectTimes* times,
                                                                    bool only_http1,
                                                                    std::string preface) {
  Result<ConnectOptions, Problem> connecting = connect_options(origin, false);
  if (!connecting) co_return connecting.error();
  if (only_http1 && connecting->tls) {
    auto tls = context(true);
    if (!tls) co_return tls.error();
    connecting->tls = *std::move(tls);
  }
  connecting->times = times;
  connecting->preface = std::move(preface);
  Result<net::HeldStream, Problem> stream = co_await connector.connect(origin, *connecting);
  if (!stream) co_return stream.error();
  if (meter != nullptr && connecting->tls) meter->secured((*stream)->is_resumed());
  const bool is_forwarded = connecting->proxy != nullptr && !connecting->tunnels;
  co_return connection_over(*std::move(stream), only_http1 || is_forwarded);
}

Pool::Sharing Core::sharing(const Origin& origin, ProxyUse use) const noexcept {
  const bool is_offered =
      use != ProxyUse::Forward && (options.versions == HttpVersions::Http2 ||
                                   (options.versions == HttpVersions::Any && origin.is_secure));
  return is_offered ? Pool::Sharing::Possible : Pool::Sharing::None;
}

Result<std::unique_ptr<PooledConnection>, Problem> Core::connection_over(net::HeldStream stream,
                                                                         bool only_http1) {
  const bool is_agreed = H2Connection::was_agreed_on(*stream);
  // Without TLS there is no negotiation, only prior knowledge. RFC 9113 §3.3
  const bool is_known =
      options.versions == HttpVersions::Http2 && !stream->is_secure() && !only_http1;
  auto peer = std::make_shared<const PeerFacts>(facts_of(*stream));
  std::unique_ptr<HttpConnection> made;
  if (is_agreed || is_known) {
    made = std::make_unique<H2Connection>(shared_from_this(), loop, pool, blocks, heads,
                                          std::move(stream), response_limits(options),
                                          options.limits.stream_bytes);
    made->set_peer(std::move(peer));
    return std::unique_ptr<PooledConnection>(std::move(made));
  }
  if (options.versions == HttpVersions::Http2 && !only_http1) {
    const std::string whom = stream->peer().to_string();
    return could_not("speak HTTP/2 with " + whom, Error(Errc::Unsupported, "HTTP/2"),
                     "the server did not agree to it");
  }
  made = std::make_unique<H1Connection>(shared_from_this(), loop, pool, blocks, buffers,
                                        std::move(stream), response_limits(options));
  made->set_peer(std::move(peer));
  return std::unique_ptr<PooledConnection>(std::move(made));
}

void Core::break_off() {
  is_broken_off = true;
  end_callbacks();
  pool.close_all();
  websockets.for_each([](WebSocketConnection& connection) {
    if (connection.is_abandoned()) connection.break_off();
  });
}

// Destroys them later: one of them may be what destroyed the client.
void Core::end_callbacks() noexcept {
  try {
    loop.post([ended = callbacks] {});
    callbacks.reset();
  } catch (const std::bad_alloc&) {  // they run to completion without calling back
    return;
  }
}

bool Core::is_finishing() {
  bool is_one = false;
  websockets.for_each(
      [&](const WebSocketConnection& connection) { is_one |= connection.is_abandoned(); });
  return is_one;
}

// Shares ownership: the client may be destroyed meanwhile.
Task<> Core::finish(std::shared_ptr<Core> core) {
  core->pool.close_all();
  co_await core->pool.closed();
  while (core->is_finishing()) co_await core->closed.wait();
  if (core->thrown_) std::rethrow_exception(std::exchange(core->thrown_, nullptr));
}

void Core::report(std::exception_ptr exception) noexcept {
  if (!options.on_exception) {
    if (!thrown_) thrown_ = std::move(exception);
    return;
  }
  try {
    options.on_exception(std::move(exception));
  } catch (...) {  // there is nowhere left to report it
    return;
  }
}

}  // namespace skua::client
