// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

namespace skua {

/// Options of redirect_to_https() and https_only().
struct HttpsRedirectOptions {
  /// The hosts that are served, without a port: `example.com`; `*.example.com`, which matches any
  /// single label before the rest; an address, `192.0.2.1` or `[2001:db8::1]`. `*` alone accepts
  /// every host that a client names: safe only if no cache in front stores responses.
  std::vector<std::string> hosts{};
  std::uint16_t port = 443;  ///< of the TLS server
};

/// Returns a router for the plain HTTP listener beside a TLS server. It redirects every request to
/// `https://` on the same host and `port`, with 308, which keeps the method and the content.
///
/// Path and query stay byte for byte. The host is the requested one without its port: 400 if it is
/// missing or malformed, 421 if it is not listed, so no request can make the server point anywhere
/// else. Routes added to the router are served over plain HTTP, which those under
/// `/.well-known/acme-challenge` require. A request whose scheme() is https already gets 421: a
/// trusted proxy has sent it to the wrong server.
///
/// Ends with: std::invalid_argument if `hosts` is empty or contains anything but hosts.
/// RFC:       9110 §7.4, §15.4.9, §15.5.20
[[nodiscard]] SKUA_API Router redirect_to_https(HttpsRedirectOptions options);

/// Redirects requests whose Request::scheme() is http, and lets the others through.
class SKUA_API HttpsOnly final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit HttpsOnly(HttpsRedirectOptions options);
  [[nodiscard]] std::optional<Response> operator()(Request& request) const;

 private:
  std::vector<std::string> hosts_;
  std::string port_;  // e.g. `:8443`; empty means the default port
};

/// Redirects to `https://`, like redirect_to_https(), what came over plain HTTP to a proxy that
/// terminates TLS. It has to be one of ServerOptions::trusted_proxies and to tell the scheme.
///
/// ```cpp
/// router.use(skua::https_only({.hosts = {"example.com"}}));
/// ```
/// Ends with: std::invalid_argument if `hosts` is empty or contains anything but hosts.
[[nodiscard]] inline HttpsOnly https_only(HttpsRedirectOptions options) {
  return HttpsOnly(std::move(options));
}

}  // namespace skua
