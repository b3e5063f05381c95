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

/// As std::getenv: null for a variable that is not there.
using Environment = std::function<const char*(const char* name)>;

/// Which proxies are used, and for whom.
struct ProxySettings {
  std::optional<Proxy> http{};   ///< for http and ws; none: no proxy
  std::optional<Proxy> https{};  ///< for https and wss; none: no proxy
  NoProxy exceptions{};          ///< who is reached without them

  /// What the variables say that others look at, too: http_proxy, https_proxy, all_proxy in place
  /// of either, and no_proxy. Each but the first may be in upper case, which counts where that in
  /// lower case is missing or empty; HTTP_PROXY is what a CGI program finds a field `Proxy` of a
  /// stranger in. `except` is in place of no_proxy, where it is not empty. This machine itself is
  /// an exception that need not be listed.
  ///
  /// Ends with: the problems of Proxy::parse, and which variable has it.
  static Result<ProxySettings, Problem> from(const Environment& environment,
                                             std::string_view except = {});

  friend bool operator==(const ProxySettings&, const ProxySettings&) = default;
};

/// How requests to an origin go.
enum class ProxyUse : std::uint8_t {
  None,     ///< straight
  Forward,  ///< to the proxy, in absolute form: it makes the request
  Tunnel,   ///< through it, by CONNECT: it sees bytes only
};

/// The one place that decides it. Whatever is secure has a tunnel, and so has what is no HTTP.
[[nodiscard]] ProxyUse proxy_use(const Origin& origin, bool is_websocket,
                                 const ProxySettings& settings);

/// The proxies of one client.
///
/// Lifetime:  one loop.
class Proxies final {
 public:
  struct Route {
    ProxyUse use = ProxyUse::None;
    std::shared_ptr<ProxyAccess> proxy{};  ///< shared with those who connect; null for None
  };

  explicit Proxies(ProxySettings settings);
  Proxies(const Proxies&) = delete;
  Proxies& operator=(const Proxies&) = delete;

  [[nodiscard]] Route route(const Origin& origin, bool is_websocket) const;

 private:
  const ProxySettings settings_;
  std::shared_ptr<ProxyAccess> http_;
  std::shared_ptr<ProxyAccess> https_;  // where both are the same proxy, so is what is known of it
};

}  // namespace skua::client
