// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>

#include "skua/options.hpp"

namespace skua::server {

/// How much request content a server keeps in memory, of all its connections. Any thread.
///
/// Content that is read piece by piece does not count: Limits::stream_bytes bounds it. The last
/// quarter is kept for small bodies, so that a few large ones do not shut everybody else out.
class ContentBudget final {
 public:
  explicit ContentBudget(const Limits& limits) noexcept : most_bytes_(most_bytes(limits)) {}

  /// Counts so many more bytes of a body that has `total_bytes` with them. False where that would
  /// be too many: then nothing is counted.
  [[nodiscard]] bool take(std::size_t bytes, std::size_t total_bytes) noexcept {
    const std::size_t most =
        total_bytes <= small_bytes ? most_bytes_ : most_bytes_ - most_bytes_ / 4;
    const std::size_t before = kept_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (before <= most && bytes <= most - before) return true;
    kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void give_back(std::size_t bytes) noexcept {
    kept_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t kept_bytes() const noexcept {
    return kept_bytes_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t small_bytes = 64 * 1024;

  // One body of the longest kind has room in any case.
  static std::size_t most_bytes(const Limits& limits) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const std::size_t two_bodies = limits.body_bytes > most / 2 ? most : limits.body_bytes * 2;
    return std::max(limits.server_body_bytes, two_bodies);
  }

  const std::size_t most_bytes_;
  std::atomic<std::size_t> kept_bytes_{0};
};

}  // namespace skua::server
