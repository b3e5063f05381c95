// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "net/address.hpp"

namespace skua::net {

/// Returns the IP addresses at which other machines can reach this one: neither loopback nor
/// link-local IPv6 addresses. Empty if the system reports none.
[[nodiscard]] std::vector<Address> interface_addresses();

/// Returns the machine's name, or an empty string if it has none.
[[nodiscard]] std::string host_name();

}  // namespace skua::net
