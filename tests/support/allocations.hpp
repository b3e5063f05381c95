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

/// While it lives, calls of operator new fail: the `first`-th from now on and the `count - 1` after
/// it, on the thread that made it or on all the others. One at a time.
class FailingAllocations final {
 public:
  enum class Where : unsigned char { ThisThread, OtherThreads };

  FailingAllocations(Where where, std::uint64_t first, std::uint64_t count = 1) noexcept;
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();

  /// Whether any has failed.
  [[nodiscard]] static bool has_failed() noexcept;
};

}  // namespace skua::testing
