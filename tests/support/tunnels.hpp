// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "skua/address.hpp"
#include "support/client.hpp"

namespace skua::testing {

/// Forwards data in both directions until one side closes.
void carry(int left, int right);

/// How a SOCKS 5 proxy behaves.
struct SocksRules {
  std::string user{};             ///< required, unless empty
  std::string password{};         ///< required
  std::uint8_t refusal_code = 0;  ///< instead of a connection
};

/// A client's request to a SOCKS proxy.
struct SocksAsked {
  std::string user{};
  std::string password{};
  std::string host{};  ///< a name, or an address as text
  std::uint16_t port = 0;
  bool is_name = false;
};

/// Plays a SOCKS 5 proxy on one connection. The tunnel leads to `server`, whatever is asked for.
/// RFC 1928, 1929
void serve_socks(Client& peer, const Address& server, const SocksRules& rules, SocksAsked& asked);

}  // namespace skua::testing
