// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "skua/address.hpp"
#include "skua/error.hpp"

namespace skua::net {

/// Returns the addresses of a name, best first (RFC 6724), with port 0. Asks the system's
/// resolver, which blocks on name servers, so it must not be called on a loop's thread.
///
/// Ends with: NameNotResolved, its context the system's reason; InvalidAddress for anything but a
///            host name, e.g. text that only lenient parsers take for an address (`127.1`).
Result<std::vector<Address>> look_up(const std::string& name);
/// Like look_up(), for addresses of one family only; the system asks for no others.
Result<std::vector<Address>> look_up_in(Address::Family family, const std::string& name);
/// Returns why a name is not resolved if only addresses of this family are wanted.
[[nodiscard]] Error has_no_address(Address::Family family) noexcept;

/// Reports whether the hosts file has the name: look_up() then needs no network. Reads the file.
[[nodiscard]] bool is_in_hosts_file(const std::string& name);
/// Like is_in_hosts_file(), for a file of this format at `path`. hosts(5)
[[nodiscard]] bool hosts_file_contains(const char* path, const std::string& name);

}  // namespace skua::net
