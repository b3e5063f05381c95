// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "skua/options.hpp"

namespace skua::server {

/// Returns Limits::connections, lowered if necessary to fit the limit on open files. A reserve
/// remains for listeners, loops, files opened by requests, lookups, and clients in the program.
///
/// `open_files` is the limit; `taken` is the number of files open before the server starts. Returns
/// 0 if the server could not even listen.
std::size_t connection_cap(const ServerOptions& options, std::size_t open_files,
                           std::size_t taken) noexcept;

}  // namespace skua::server
