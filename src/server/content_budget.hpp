// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>

#include "skua/options.hpp"

namespace skua::server {

/// A server-wide budget for request content kept in memory. Thread-safe.
///
/// Content that is read piece by piece does not count: Limits::stream_bytes bounds it. The last
/// quarter is reserved for small bodies, so that a few large ones cannot block all others.
class ContentBudget final {
 public:
  explicit ContentBudget(const Limits& limits) noexcept : most_bytes_(most_bytes(limits)) {}

  /// Takes `bytes` more for a body that has `total_bytes` including them. Returns false, and takes
  /// nothing, if the budget does not suffice.
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

  // Always leaves room for one body of the maximum size.
  static std::size_t most_bytes(const Limits& limits) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const std::size_t two_bodies = limits.body_bytes > most / 2 ? most : limits.body_bytes * 2;
    return std::max(limits.server_body_bytes, two_bodies);
  }

  const std::size_t most_bytes_;
  std::atomic<std::size_t> kept_bytes_{0};
};

}  // namespace skua::server
