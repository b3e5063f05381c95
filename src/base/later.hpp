// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace skua {

/// Returns `from` plus `by`, or the end of the clock's range if that is beyond it, so that a
/// wait of Duration::max() never ends. The only way to add a wait to a time:
/// tools/check_times.py looks for others.
template <class Clock, class Unit>
[[nodiscard]] constexpr std::chrono::time_point<Clock, Unit> later(
    std::chrono::time_point<Clock, Unit> from, Unit by) noexcept {
  using Point = std::chrono::time_point<Clock, Unit>;
  if (by > Unit::zero()) return from > Point::max() - by ? Point::max() : from + by;
  return from < Point::min() - by ? Point::min() : from + by;
}

}  // namespace skua
