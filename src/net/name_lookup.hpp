// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "net/address.hpp"
#include "skua/error.hpp"

namespace skua::net {

/// The addresses of a name, as this machine is set up to find them, the best first (RFC 6724), with
/// port 0. Blocks as long as name servers take: for another thread than a loop's.
///
/// Ends with: NameNotResolved, its context the system's reason; InvalidAddress for what is no name,
///            among them the texts that only lenient readers take for addresses (`127.1`).
Result<std::vector<Address>> look_up(const std::string& name);

}  // namespace skua::net
