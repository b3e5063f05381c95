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

/// Whether the hosts file has the name, so that look_up() need not ask the network. Reads the file.
[[nodiscard]] bool is_in_hosts_file(const std::string& name);
/// The same for a file of this form at another place. hosts(5)
[[nodiscard]] bool hosts_file_has(const char* path, const std::string& name);

}  // namespace skua::net
