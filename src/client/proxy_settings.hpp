// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "client/no_proxy.hpp"
#include "client/origin.hpp"
#include "client/proxy.hpp"
#include "client/proxy_access.hpp"
#include "skua/error.hpp"

namespace skua::client {

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
  Tunnel,   ///< through the proxy, by CONNECT: it sees only bytes
};

/// Decides how requests reach an origin. TLS and WebSockets always use a tunnel.
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
