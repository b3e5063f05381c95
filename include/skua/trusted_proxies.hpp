// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <memory>
#include <vector>

#include "skua/address.hpp"
#include "skua/config.hpp"
#include "skua/ip_filter.hpp"

namespace skua {

namespace detail {
class ProxySupport;
}  // namespace detail

/// The fields in which proxies tell who the client is, and what it asked for.
enum class ForwardedFields : std::uint8_t {
  None,
  XForwarded,  ///< X-Forwarded-For, -Host and -Proto
  Forwarded,   ///< RFC 7239
};

/// The rules of TrustedProxies: which proxies are believed, and what.
struct ProxyRules {
  std::vector<Network> networks{};  ///< whose word is believed
  /// Believes those who connect to a Unix socket, too: all whom the permissions of its path admit.
  bool unix_sockets = false;
  /// The kind of fields that each of these proxies sets or removes. A client can send the fields of
  /// the other kind through them, so only one kind is believed.
  ForwardedFields forwarded = ForwardedFields::None;
  /// Each connection begins with a header of the PROXY protocol, version 1 or 2, before TLS.
  /// Connections from others than these proxies are refused, and those without a valid header are
  /// closed.
  bool proxy_protocol = false;
};

/// The proxies in front of a server, for ServerOptions::trusted_proxies. All functions are
/// thread-safe, and one object may serve any number of servers.
///
/// ```cpp
/// options.trusted_proxies = std::make_shared<skua::TrustedProxies>(
///     skua::ProxyRules{.networks = skua::parse_networks("10.0.0.0/8").value(),
///                      .forwarded = skua::ForwardedFields::XForwarded});
/// ```
/// Request::client_address(), scheme() and requested_host() return what they tell. The addresses of
/// a PROXY header are those of the connection, for everything but ServerOptions::ip_filter and
/// `accepts`.
class SKUA_API TrustedProxies final {
 public:
  explicit TrustedProxies(ProxyRules rules);
  TrustedProxies(const TrustedProxies&) = delete;
  TrustedProxies& operator=(const TrustedProxies&) = delete;
  ~TrustedProxies();

  [[nodiscard]] const ProxyRules& rules() const noexcept SKUA_LIFETIMEBOUND { return rules_; }
  /// Reports whether this address is that of a proxy. An IPv4-mapped address is an IPv4 address;
  /// ports and scope ids do not matter.
  [[nodiscard]] bool trusts(const Address& peer) const noexcept;

  /// For servers.
  [[nodiscard]] const detail::ProxySupport* support() const noexcept SKUA_LIFETIMEBOUND {
    return support_.get();
  }

 private:
  const ProxyRules rules_;
  // Programs without such an object link none of the code behind it.
  const std::unique_ptr<const detail::ProxySupport> support_;
};

}  // namespace skua
