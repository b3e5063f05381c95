// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"
#include "skua/redis.hpp"
#include "skua/tls_stream.hpp"

namespace skua::redis {

/// The place of a server: a host and a port, or the path of a Unix socket.
struct Endpoint {
  std::string host{};
  std::uint16_t port = 0;
  std::string path{};  ///< of a Unix socket; empty: host and port

  bool operator==(const Endpoint&) const = default;
  /// Returns `host:port`, `[::1]:6379` or `unix:/path`.
  [[nodiscard]] std::string to_string() const;
};

/// Parses `host:port`; an IPv6 address may have brackets, and its last colon comes before the port.
std::optional<Endpoint> parse_endpoint(std::string_view text);

/// The options of a client, checked; any number of threads share them.
struct Settings {
  Options options{};
  std::vector<Endpoint> endpoints{};  ///< of the URL, then those of Options::nodes
  std::string user{};
  std::string password{};
  std::uint32_t database = 0;
  std::optional<TlsConnector> tls{};  ///< nullopt: not spoken
};

/// Ends with: std::invalid_argument, and Exception for files of TLS; see Client.
std::shared_ptr<const Settings> read_settings(Options options);

}  // namespace skua::redis
