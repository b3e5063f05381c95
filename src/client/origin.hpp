// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "skua/url.hpp"

namespace skua::client {

/// Where a connection goes to.
struct Origin {
  std::string host{};       ///< a name or an address, IPv6 with or without brackets
  std::uint16_t port = 0;   ///< of TCP
  bool is_secure = false;   ///< TLS, with a certificate for `host`
  std::string unix_path{};  ///< a Unix socket's; empty: TCP

  /// `example.com:443`, `[::1]:80`, `unix:/run/x`.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Whom a URL of http(s) or ws(s) is of, or who is behind that Unix socket, where one is named.
[[nodiscard]] Origin origin_of(const Url& url, const std::string& unix_path);

}  // namespace skua::client
