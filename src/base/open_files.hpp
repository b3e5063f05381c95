// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace skua::base {

/// Returns how many files and sockets this process may have open at once; the largest number if
/// there is no limit.
std::size_t open_files_limit() noexcept;

/// Raises that limit as far as permitted (RLIMIT_NOFILE: the soft limit to the hard one).
void raise_open_files_limit() noexcept;

/// Returns how many are open now, or 0 if that is unknown.
std::size_t open_files_count() noexcept;

}  // namespace skua::base
