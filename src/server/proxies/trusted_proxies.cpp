// SPDX-License-Identifier: MIT
// In: the connections and requests of proxies. Out: the clients behind them, as far as the rules
// believe the proxies.
#include "skua/trusted_proxies.hpp"

#include <array>
#include <utility>

#include "base/network_set.hpp"
#include "http/message/forwarded.hpp"
#include "loop/clock.hpp"
#include "net/log.hpp"
#include "net/stream.hpp"
#include "server/proxies/support.hpp"
#include "server/resources.hpp"
#include "sockets/proxied_stream.hpp"

namespace skua {
namespace {

/// Between two log entries about headers. Counters has their number.
constexpr Duration header_log_interval = 1s;

class HeaderReader final : public detail::ProxyHeaderReader, private sockets::ProxiedStreamOwner {
 public:
  explicit HeaderReader(server::Resources& resources) noexcept : resources_(resources) {}

  void wrap(std::unique_ptr<net::Stream>& stream) override {
    stream = std::make_unique<sockets::ProxiedStream>(
        std::move(stream), static_cast<sockets::ProxiedStreamOwner&>(*this));
  }
  void tell_open(const net::Stream& connection) const override {
    if (const auto& tell = resources_.options.hooks.on_connection_open)
      tell(connection.peer().to_string());
  }

 private:
  void on_bad_proxy_header(Error why, const Address& proxy) noexcept override {
    ++resources_.counters.refused_proxy_headers;
    const auto& log = resources_.options.hooks.log;
    const loop::Instant now = resources_.loop.now();
    if (!log || now < quiet_until_) return;
    quiet_until_ = later(now, header_log_interval);
    std::array<char, Address::max_text_bytes> text;
    net::tell(log, LogLevel::Warning,
              {"closed a connection from ", proxy.format(text), ": ", message(why.code()), " (",
               why.context(), ")"});
  }

  server::Resources& resources_;
  loop::Instant quiet_until_{};  // after a header was logged
};

class Support final : public detail::ProxySupport {
 public:
  explicit Support(const TrustedProxies& proxies)
      : proxies_(proxies), networks_(proxies.rules().networks) {}

  [[nodiscard]] bool is_listed(const Address& address) const noexcept override {
    const Result<Network> alone = Network::of(address);
    return alone && networks_.contains(*alone);
  }

  [[nodiscard]] bool admits(const Address& peer) const noexcept override {
    return !proxies_.rules().proxy_protocol || proxies_.trusts(peer);
  }

  [[nodiscard]] std::unique_ptr<sockets::StreamWrapper> join(
      server::Resources& resources, sockets::Acceptor& acceptor) const override {
    resources.origins = this;
    if (!proxies_.rules().proxy_protocol) return nullptr;
    auto reader = std::make_unique<HeaderReader>(resources);
    resources.header_reader = reader.get();
    acceptor.wrap_with(reader.get());
    return reader;
  }

  [[nodiscard]] http::Origin origin_of(const http::Head& head,
                                       const void* connection) const override {
    const auto& stream = *static_cast<const net::Stream*>(connection);
    http::Origin known{.client = stream.peer(), .is_secure = is_client_secure(stream)};
    if (proxies_.trusts(known.client)) http::believe(head, proxies_, known);
    return known;
  }

  // With the PROXY protocol, the peer is the one client of the connection, which may be another
  // proxy.
  [[nodiscard]] bool is_proxy(const void* connection) const override {
    return proxies_.trusts(static_cast<const net::Stream*>(connection)->peer());
  }

 private:
  [[nodiscard]] bool is_client_secure(const net::Stream& stream) const noexcept {
    if (stream.is_secure() || !proxies_.rules().proxy_protocol) return stream.is_secure();
    // Only streams of tests are of another kind.
    const auto* const proxied = dynamic_cast<const sockets::ProxiedStream*>(&stream);
    return proxied != nullptr && proxied->is_client_secure();
  }

  const TrustedProxies& proxies_;
  const base::NetworkSet networks_;
};

}  // namespace

TrustedProxies::TrustedProxies(ProxyRules rules)
    : rules_(std::move(rules)), support_(std::make_unique<Support>(*this)) {}

TrustedProxies::~TrustedProxies() = default;

bool TrustedProxies::trusts(const Address& peer) const noexcept {
  if (peer.family() == Address::Family::Unix) return rules_.unix_sockets;
  return support_->is_listed(peer);
}

}  // namespace skua
