// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "skua/url.hpp"

namespace skua::client {

/// The server that a connection leads to.
struct Origin {
  std::string host{};       ///< a name or an address, IPv6 with or without brackets
  std::uint16_t port = 0;   ///< the TCP port
  bool is_secure = false;   ///< TLS, with a certificate for `host`
  std::string unix_path{};  ///< the path of a Unix socket; empty: TCP

  /// `example.com:443`, `[::1]:80`, `unix:/run/x`.
  [[nodiscard]] std::string to_string() const;
  /// Names all that makes connections to it interchangeable. A Unix socket may serve many hosts,
  /// but TLS has verified only one of them.
  [[nodiscard]] std::string key() const;

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Returns the origin of an http(s) or ws(s) URL, behind the Unix socket if `unix_path` is set.
[[nodiscard]] Origin origin_of(const Url& url, const std::string& unix_path);

}  // namespace skua::client
