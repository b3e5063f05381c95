// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "skua/address.hpp"
#include "skua/error.hpp"

namespace skua::sockets {

/// The header with which a proxy begins a connection, to tell who its client is: version 1 or 2 of
/// the PROXY protocol.
struct ProxyHeader {
  Address client{};            ///< Family::None: the header names none, so the connection's holds
  Address server{};            ///< the address that the client has connected to; likewise
  bool is_secure = false;      ///< the client speaks TLS with the proxy
  std::size_t size_bytes = 0;  ///< of the header
};

/// The longest header that is read. Version 1 has at most 107 bytes; in version 2, the addresses
/// and what else a proxy tells of its client have at most 4 KiB.
inline constexpr std::size_t max_proxy_header_bytes = 16 + 4096;

/// Reads the header at the beginning of a connection, of which `bytes` are all that have arrived.
/// Returns nullopt while it is incomplete.
///
/// Ends with: MalformedProxyHeader, with the part that is wrong as context.
/// https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt
Result<std::optional<ProxyHeader>> read_proxy_header(std::string_view bytes) noexcept;

/// Returns a header of version 1. It names nobody unless both are IP addresses; if only one of them
/// is IPv6, the other one is mapped.
std::string text_proxy_header(const Address& client, const Address& server);
/// Returns a header of version 2, likewise, which also tells whether the client speaks TLS.
std::string binary_proxy_header(const Address& client, const Address& server, bool is_secure);

}  // namespace skua::sockets
