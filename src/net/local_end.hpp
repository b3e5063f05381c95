// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "skua/address.hpp"
#include "skua/error.hpp"
#include "skua/socket.hpp"

namespace skua::net {

/// This machine's end of outgoing connections: a network interface, or one of its addresses.
class LocalEnd final {
 public:
  /// Finds an interface by its name (`eth0`), or takes an address of this machine.
  ///
  /// Ends with: AddressUnavailable; the errors of network_interfaces(). The text quotes the name.
  static Result<LocalEnd, Problem> find(const std::string& name);

  /// Binds a new socket that is going to connect to `peer`. A socket of an interface sends and
  /// receives there only, if the system permits that; else it gets one of its addresses.
  ///
  /// Ends with: AddressUnavailable if there is no address of the peer's family.
  Result<void> bind(const Socket& socket, const Address& peer) const noexcept;

 private:
  LocalEnd() = default;
  [[nodiscard]] const Address* address_for(const Address& peer) const noexcept;

  std::string device_{};  // empty: just an address
  std::vector<Address> addresses_{};
};

}  // namespace skua::net
