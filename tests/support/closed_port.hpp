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
  explicit ClosedPort(std::uint16_t number = 0) {
    socket_.set_reuse_address(true).value();  // that of a server which has just gone
    socket_.bind(Address::loopback(Address::Family::Ipv4, number)).value();
  }
  [[nodiscard]] std::uint16_t number() const { return socket_.local_address().port(); }

 private:
  TcpSocket socket_ = TcpSocket::open(Address::Family::Ipv4).value();
};

}  // namespace skua::testing
