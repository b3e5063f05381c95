// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::middleware {

/// Identifies a peer independently of its port: `192.0.2.1:50123` becomes `192.0.2.1`. An IPv6
/// address is reduced to its first 64 bits, because one customer usually owns the rest; an
/// IPv4-mapped address becomes the IPv4 address. Anything else is returned unchanged.
std::string client_key(std::string_view peer);

}  // namespace skua::middleware
