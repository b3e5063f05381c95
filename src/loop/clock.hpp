// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>

#include "skua/bytes.hpp"

namespace skua::loop {

/// A point of monotonic time.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A source of time for a loop. Any thread may use it.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Instant now() const noexcept = 0;
  /// Whether time passes while a loop sleeps; if not, the loop sleeps until it is woken.
  [[nodiscard]] virtual bool passes_by_itself() const noexcept = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] bool passes_by_itself() const noexcept override { return true; }
};

/// A clock that stands still until a test advances it; timers notice after Loop::wake.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    return Instant(Duration(nanoseconds_.load(std::memory_order_acquire)));
  }
  [[nodiscard]] bool passes_by_itself() const noexcept override { return false; }
  void advance(Duration by) noexcept {
    nanoseconds_.fetch_add(by.count(), std::memory_order_acq_rel);
  }

 private:
  std::atomic<Duration::rep> nanoseconds_{0};
};

}  // namespace skua::loop

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
