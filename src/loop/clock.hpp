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
