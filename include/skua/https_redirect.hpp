// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "skua/router.hpp"

namespace skua {

/// Where plain HTTP is redirected to.
struct HttpsRedirectOptions {
  /// The hosts that are served, without a port: `example.com`; `*.example.com`, which is any one
  /// label before the rest; an address, `192.0.2.1` or `[2001:db8::1]`. `*` alone is every host
  /// that a client may name: only where nothing in front keeps answers.
  std::vector<std::string> hosts{};
  std::uint16_t port = 443;  ///< of the server that speaks TLS
};

/// What the plain listener beside a TLS server serves: every request is told to come again over
/// TLS (308: with the same method and content), at the same host on `port`.
///
/// The path and the query stay byte for byte. The host is the one that the client asked for,
/// without its port; one that is missing or malformed is answered with 400, and one that is not
/// listed with 421, so that no request can make this server point anywhere else. Routes that are
/// added are served in plain text, as those under `/.well-known/acme-challenge` have to be. Behind
/// a proxy that speaks TLS itself, every request is a plain one: not for there.
///
/// Ends with: std::invalid_argument for no hosts, and for what is not a host.
/// RFC:       9110 §7.4, §15.4.9, §15.5.20
[[nodiscard]] Router redirect_to_https(HttpsRedirectOptions options);

}  // namespace skua
