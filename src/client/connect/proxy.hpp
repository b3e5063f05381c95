// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/authorization.hpp"
#include "client/connect/origin.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// The protocol that a proxy speaks.
enum class ProxyKind : std::uint8_t {
  Http,     ///< forwards requests, or opens tunnels
  Socks5,   ///< opens tunnels to addresses
  Socks5h,  ///< opens tunnels, and resolves names itself
};

/// A server that forwards requests, or opens tunnels to others.
struct Proxy {
  ProxyKind kind = ProxyKind::Http;
  Origin origin{};         ///< its address; secure: TLS is spoken to the proxy itself
  std::string user{};      ///< both empty: it requires no authentication
  std::string password{};  ///< never part of any text that is shown

  /// Parses `http://user:password@host:port`, `https://...`, `socks5://...`, `socks5h://...`, or
  /// the same without a scheme, which means http. The port defaults to 80, 443 or 1080. Special
  /// characters of the name and the password are percent-encoded.
  ///
  /// Ends with: Unsupported for any other scheme, such as socks4; MalformedUrl for anything else.
  static Result<Proxy, Problem> parse(std::string_view text);

  [[nodiscard]] bool is_socks() const noexcept { return kind != ProxyKind::Http; }
  [[nodiscard]] bool has_credentials() const noexcept { return !user.empty() || !password.empty(); }
  /// Returns `http://127.0.0.1:3128`, without the name and the password.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Proxy&, const Proxy&) = default;
};

/// A proxy as one client uses it: its address, and the state of authentication to it.
///
/// Lifetime:  one loop.
class ProxyAccess final {
 public:
  explicit ProxyAccess(Proxy proxy);
  ProxyAccess(const ProxyAccess&) = delete;
  ProxyAccess& operator=(const ProxyAccess&) = delete;

  [[nodiscard]] const Proxy& proxy() const noexcept { return proxy_; }
  [[nodiscard]] Authorization& authorization() noexcept { return authorization_; }

 private:
  const Proxy proxy_;
  Authorization authorization_;
};

}  // namespace skua::client
