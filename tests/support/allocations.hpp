// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace skua::testing {

/// Heap use of one thread. Linking allocations.cpp makes a test binary count every operator new.
struct Allocations {
  std::uint64_t count = 0;      ///< calls to operator new so far
  std::int64_t live_bytes = 0;  ///< not yet freed; includes allocator overhead
};

/// Returns the current numbers of the calling thread.
Allocations allocations() noexcept;

/// Makes calls to operator new fail while it lives: the `first`-th from now on and the `count - 1`
/// after it, on the thread that created it or on all others. Only one may exist at a time.
class FailingAllocations final {
 public:
  enum class Where : unsigned char { ThisThread, OtherThreads };

  FailingAllocations(Where where, std::uint64_t first, std::uint64_t count = 1) noexcept;
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();

  /// Reports whether any call has failed.
  [[nodiscard]] static bool has_failed() noexcept;
};

}  // namespace skua::testing
