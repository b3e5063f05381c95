// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/connect/origin.hpp"
#include "client/connect/proxy.hpp"
#include "skua/error.hpp"
#include "skua/ip_filter.hpp"

namespace skua::client {

/// The hosts that are reached without a proxy, as listed in the variable NO_PROXY.
class NoProxy final {
 public:
  NoProxy() = default;

  /// Parses a list separated by commas, white space, or both. Any other entry matches nothing:
  ///
  /// ```
  /// *                       every host
  /// example.com             it and all its subdomains; likewise with a leading dot
  /// *.example.com           its subdomains only
  /// 10.0.0.1  ::1  [::1]    an address
  /// 10.0.0.0/8  fd00::/8    all addresses with this prefix
  /// example.com:8080        any of them with a port: that port only; IPv6 then needs brackets
  /// ```
  static NoProxy parse(std::string_view list);

  /// Reports whether a host is listed: a name in any case, with or without a trailing dot, or an
  /// address. Names are not resolved: an address never matches a name, nor a name an address.
  [[nodiscard]] bool contains(std::string_view host, std::uint16_t port) const;

  friend bool operator==(const NoProxy&, const NoProxy&) = default;

 private:
  enum class Kind : std::uint8_t { All, Name, Below, Network };

  struct Entry {
    Kind kind = Kind::All;
    std::uint16_t port = 0;            ///< 0: any
    std::string text{};                ///< a name in lower case
    std::optional<Network> network{};  ///< set if the kind is Network

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Host;

  static bool read(std::string_view text, Entry& entry);
  [[nodiscard]] static bool fits(const Entry& entry, const Host& host) noexcept;

  std::vector<Entry> entries_;
};

/// Like std::getenv: returns null if the variable is not set.
using Environment = std::function<const char*(const char* name)>;

/// Which proxies are used, and for which origins.
struct ProxySettings {
  std::optional<Proxy> http{};   ///< for http and ws; none: no proxy
  std::optional<Proxy> https{};  ///< for https and wss; none: no proxy
  NoProxy exceptions{};          ///< hosts that are reached without them

  /// Reads the customary variables: http_proxy, https_proxy, all_proxy in place of either, and
  /// no_proxy. Upper-case names count if the lower-case ones are missing or empty, except for
  /// HTTP_PROXY: in a CGI program, any client can set that with a `Proxy` field. `except` replaces
  /// no_proxy unless it is empty. This machine itself is always an exception.
  ///
  /// Ends with: the problems of Proxy::parse, with the name of the variable.
  static Result<ProxySettings, Problem> from(const Environment& environment,
                                             std::string_view except = {});

  friend bool operator==(const ProxySettings&, const ProxySettings&) = default;
};

/// How requests reach an origin.
enum class ProxyUse : std::uint8_t {
  None,     ///< directly
  Forward,  ///< sent to the proxy in absolute form: it makes the request
  Tunnel,   ///< through the proxy, by CONNECT or SOCKS: it sees only bytes
};

/// Decides how requests reach an origin. TLS, WebSockets and SOCKS always use a tunnel.
[[nodiscard]] ProxyUse proxy_use(const Origin& origin, bool is_websocket,
                                 const ProxySettings& settings);

/// The proxies of one client.
///
/// Lifetime:  one loop.
class Proxies final {
 public:
  struct Route {
    ProxyUse use = ProxyUse::None;
    std::shared_ptr<ProxyAccess> proxy{};  ///< shared with connection attempts; null for None
  };

  explicit Proxies(ProxySettings settings);
  Proxies(const Proxies&) = delete;
  Proxies& operator=(const Proxies&) = delete;

  [[nodiscard]] Route route(const Origin& origin, bool is_websocket) const;

 private:
  const ProxySettings settings_;
  std::shared_ptr<ProxyAccess> http_;
  std::shared_ptr<ProxyAccess> https_;  // the same object as http_ if both proxies are equal
};

}  // namespace skua::client
