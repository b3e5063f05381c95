// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace skua::testing {

/// What this thread has taken from the heap; a test binary that links allocations.cpp counts every
/// operator new.
struct Allocations {
  std::uint64_t count = 0;      ///< calls of operator new so far
  std::int64_t live_bytes = 0;  ///< taken and not given back, the allocator's own overhead included
};

/// The numbers of the calling thread, now.
Allocations allocations() noexcept;

}  // namespace skua::testing
