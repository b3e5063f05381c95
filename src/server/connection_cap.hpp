// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "skua/options.hpp"

namespace skua::server {

/// What the limit on open files leaves of Limits::connections. A reserve stays for listeners and
/// loops, for the files that requests open, and for lookups and other clients of the program.
///
/// 0: the server could not even listen. `open_files`: the limit; `taken`: what is open before the
/// server starts.
std::size_t connection_cap(const ServerOptions& options, std::size_t open_files,
                           std::size_t taken) noexcept;

}  // namespace skua::server
