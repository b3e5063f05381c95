// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "net/address.hpp"

namespace skua::net {

/// The IP addresses by which other machines reach this one: no loopback, no link-local IPv6. Empty
/// where the system does not tell.
[[nodiscard]] std::vector<Address> interface_addresses();

/// The machine's name; empty where it has none.
[[nodiscard]] std::string host_name();

}  // namespace skua::net
