// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace skua::base {

/// How many files and sockets this process may have open at once; the largest number where that is
/// not limited.
std::size_t open_files_limit() noexcept;

/// Raises that limit as far as the process may (RLIMIT_NOFILE: the soft limit to the hard one).
void raise_open_files_limit() noexcept;

/// How many are open now; 0 where that cannot be told.
std::size_t open_files_count() noexcept;

}  // namespace skua::base
