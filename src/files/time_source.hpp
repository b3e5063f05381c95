// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "files/etag.hpp"
#include "loop/clock.hpp"

namespace skua::files {

/// Where a file cache's time comes from; tests bring their own.
class TimeSource {
 public:
  TimeSource() = default;
  TimeSource(const TimeSource&) = delete;
  TimeSource& operator=(const TimeSource&) = delete;
  virtual ~TimeSource() = default;

  /// For ages: never jumps.
  [[nodiscard]] virtual loop::Instant now() const noexcept {
    return std::chrono::steady_clock::now();
  }
  /// To compare with the time stamps of files.
  [[nodiscard]] virtual WallTime wall() const noexcept { return std::chrono::system_clock::now(); }
};

}  // namespace skua::files
