// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "files/etag.hpp"
#include "loop/clock.hpp"

namespace skua::files {

/// The clocks of a file cache; tests substitute their own.
class TimeSource {
 public:
  TimeSource() = default;
  TimeSource(const TimeSource&) = delete;
  TimeSource& operator=(const TimeSource&) = delete;
  virtual ~TimeSource() = default;

  /// Returns a monotonic time, for ages.
  [[nodiscard]] virtual loop::Instant now() const noexcept {
    return std::chrono::steady_clock::now();
  }
  /// Returns the wall-clock time, to compare with file time stamps.
  [[nodiscard]] virtual WallTime wall() const noexcept { return std::chrono::system_clock::now(); }
};

}  // namespace skua::files
