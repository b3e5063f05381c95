// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::middleware {

/// Who a peer is, whatever its port: `192.0.2.1:50123` is `192.0.2.1`. Of an IPv6 address only the
/// first 64 bits count, as one customer has all of the rest; one that stands for an IPv4 address is
/// that. What is neither is itself.
std::string client_key(std::string_view peer);

}  // namespace skua::middleware
