// SPDX-License-Identifier: MIT
// In: the text of an upstream server. Out: its URL, and a client for each thread that needs one.
#include "proxy/upstream.hpp"

#include <array>
#include <unordered_map>
#include <utility>

#include "client/fetch.hpp"
#include "crypto/random.hpp"
#include "loop/loop.hpp"

namespace skua::proxy {
namespace {

constexpr std::size_t pseudonym_bytes = 6;
constexpr std::size_t stream_bytes = 256 * 1024;  // per response that waits for its client

/// The clients of one loop.
struct Clients {
  struct One {
    std::weak_ptr<const Endpoint> server{};
    std::shared_ptr<client::Core> core{};
  };

  Clients() = default;
  Clients(Clients&&) noexcept = default;
  Clients& operator=(Clients&&) noexcept = default;
  ~Clients() {
    for (const auto& [server, one] : all) one.core->break_off();
  }

  std::unordered_map<const Endpoint*, One> all;
};

std::string make_pseudonym() { return "skua-" + crypto::random_token(pseudonym_bytes).value(); }

ClientOptions client_options(const ServerUrl& server, const ReverseProxyOptions& options) {
  ClientOptions made;
  made.base_url = server.url.to_string();
  const ReverseProxyTimeouts& timeouts = options.timeouts;
  made.timeouts.resolve = timeouts.connect;
  made.timeouts.connect = timeouts.connect;
  made.timeouts.handshake = timeouts.connect;
  made.timeouts.queue = timeouts.connect;
  made.timeouts.head = timeouts.response;
  made.timeouts.idle = timeouts.idle;
  made.timeouts.idle_connection = timeouts.idle_connection;
  made.limits.stream_bytes = stream_bytes;
  made.connections = options.connections;
  made.connections_per_host = options.connections;
  made.versions = server.is_http2 ? HttpVersions::Http2 : options.versions;
  made.unix_socket = server.unix_socket;
  made.hosts = options.hosts;
  made.tls = options.tls;
  made.metrics = options.metrics;
  return made;
}

client::TlsContexts tls_contexts(const ServerUrl& server, const ClientOptions& options) {
  if (server.url.scheme() != "https") return {};
  Result<client::TlsContexts, Problem> made = client::TlsContexts::create(options);
  if (!made) refuse(server.text, made.error().text);
  return *std::move(made);
}

}  // namespace

Endpoint::Endpoint(const ServerUrl& server, const ReverseProxyOptions& options)
    : options_(client_options(server, options)),
      proxy_protocol_(options.proxy_protocol),
      tls_(tls_contexts(server, options_)) {}

std::shared_ptr<client::Core> Endpoint::make_client(loop::Loop& loop) const {
  return std::make_shared<client::Core>(loop, options_, tls_);
}

std::shared_ptr<client::Core> Endpoint::make_client(loop::Loop& loop,
                                                    const std::optional<Address>& address,
                                                    const UpstreamHealth* check) const {
  ClientOptions options = options_;
  if (check != nullptr) {
    options.timeouts.idle_connection = Duration::zero();
    options.timeouts.queue = Duration::zero();  // nor are descriptors waited for
    options.metrics.reset();
  }
  if (check != nullptr && check->port != 0) {
    Url url = Url::parse(options.base_url).value();
    url.set_port(check->port).value();
    options.base_url = url.to_string();
  }
  if (address) {
    const std::string host = Url::parse(options.base_url).value().hostname();
    std::array<char, Address::max_text_bytes> text;
    options.hosts = {{.host = host, .address = std::string(address->format_host(text))}};
  }
  return std::make_shared<client::Core>(loop, std::move(options), tls_);
}

Upstream::Upstream(std::string_view text, const ReverseProxyOptions& options)
    : options_(options), pseudonym_(make_pseudonym()) {
  const ServerUrl server = ServerUrl::parse(text);
  base_ = server.base;
  is_http2_ = server.is_http2 || options.versions == HttpVersions::Http2;
  server_ = std::make_shared<const Endpoint>(server, options);
}

Upstream::Upstream(std::unique_ptr<const Dispatcher> dispatcher, const ReverseProxyOptions& options)
    : options_(options),
      pseudonym_(make_pseudonym()),
      dispatcher_(std::move(dispatcher)),
      base_(dispatcher_->base()),
      is_http2_(dispatcher_->is_http2()) {}

Task<Fetched> Upstream::fetch(Request& request, client::RequestSpec& spec) const {
  if (dispatcher_ != nullptr) return dispatcher_->fetch(request, spec);
  return client::fetch(client(), spec);
}

std::shared_ptr<client::Core> Upstream::client() const {
  loop::Loop& loop = loop::Loop::current();
  std::unordered_map<const Endpoint*, Clients::One>& all = loop.attachments().get<Clients>().all;
  const auto known = all.find(server_.get());
  // Another one may have had the same address.
  if (known != all.end() && !known->second.server.expired()) return known->second.core;
  // Those that a reload has replaced end once their connections are unused.
  std::erase_if(all, [](const auto& each) {
    const Clients::One& one = each.second;
    if (!one.server.expired()) return false;
    one.core->break_off();
    return true;
  });
  auto core = server_->make_client(loop);
  all.emplace(server_.get(), Clients::One{server_, core});
  return core;
}

std::shared_ptr<client::Core> client_of(const client::IncomingResponse& incoming) {
  std::shared_ptr<client::Core> core = incoming.core().shared_from_this();
  const std::shared_ptr<client::ResponseWatch>& watch = incoming.asked().watch;
  if (watch == nullptr) return core;
  // A pointer to the client that keeps the watch, too.
  const auto both = std::make_shared<
      std::pair<std::shared_ptr<client::Core>, std::shared_ptr<client::ResponseWatch>>>(core,
                                                                                        watch);
  return {both, both->first.get()};
}

}  // namespace skua::proxy
