// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "skua/address.hpp"
#include "skua/socket.hpp"

namespace skua::testing {

/// A port of 127.0.0.1 that refuses connections: it is bound, so that nobody else gets it, but has
/// no listener.
class ClosedPort {
 public:
  ClosedPort() { socket_.bind(*Address::parse("127.0.0.1:0")).value(); }
  [[nodiscard]] std::uint16_t number() const { return socket_.local_address().port(); }

 private:
  TcpSocket socket_ = TcpSocket::open(Address::Family::Ipv4).value();
};

}  // namespace skua::testing
