// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace skua::proxy {

/// How many requests may be repeated: each request pays a share of a retry into a bucket, which is
/// full at first. If everything fails, there is hardly more load than without retries. Thread-safe.
class RetryBudget final {
 public:
  /// `share` is the retries that a request pays for, `burst` the most that the bucket holds; it
  /// can hold one at least.
  RetryBudget(double share, unsigned burst) noexcept
      : payment_(static_cast<std::int64_t>(share * retry)),
        most_(std::max<std::int64_t>(burst, 1) * retry),
        left_(std::int64_t{burst} * retry) {}

  /// A request pays.
  void pay() noexcept {
    std::int64_t left = left_.load(std::memory_order_relaxed);
    while (left < most_) {
      const std::int64_t more = std::min(left + payment_, most_);
      if (left_.compare_exchange_weak(left, more, std::memory_order_relaxed)) return;
    }
  }
  /// Takes a retry out; reports whether there was one.
  [[nodiscard]] bool take() noexcept {
    std::int64_t left = left_.load(std::memory_order_relaxed);
    while (left >= retry) {
      if (left_.compare_exchange_weak(left, left - retry, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  /// Puts one back that was not needed.
  void give_back() noexcept { left_.fetch_add(retry, std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t retry = 1000;  // the unit is a thousandth of a retry

  const std::int64_t payment_;
  const std::int64_t most_;
  std::atomic<std::int64_t> left_;
};

}  // namespace skua::proxy
