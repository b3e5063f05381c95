// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace skua::proxy {

/// How many requests may be repeated that a server may have seen: each request pays a share of a
/// retry into a bucket, which is full at first. If everything fails, there is hardly more load than
/// without retries. Thread-safe.
///
/// A client can make servers answer with a failure, by what it asks for. So such answers are paid
/// from the buckets of clients, and connections that break from that of all.
class RetryBudget final {
 public:
  /// `share` is the retries that a request pays for, `burst` the most that a bucket holds; it can
  /// hold one at least.
  RetryBudget(double share, unsigned burst) noexcept
      : payment_(static_cast<std::int64_t>(share * retry)),
        most_(std::max<std::int64_t>(burst, 1) * retry),
        left_(std::int64_t{burst} * retry) {
    for (std::atomic<std::int64_t>& left : left_of_clients_)
      left.store(std::int64_t{burst} * retry);
  }

  /// A request of a client pays; `client` is a hash.
  void pay(std::size_t client) noexcept {
    put(left_);
    put(bucket_of(client));
  }
  /// Takes a retry out after an answer that is a failure; reports whether there was one.
  [[nodiscard]] bool take_for_answer(std::size_t client) noexcept {
    return take_from(bucket_of(client), 0);
  }
  /// Takes a retry out after a connection broke; reports whether there was one. A server that dies
  /// breaks all connections to it at once, so as many as there are `outstanding` requests may be
  /// repeated on credit.
  [[nodiscard]] bool take(std::size_t outstanding) noexcept {
    return take_from(left_, static_cast<std::int64_t>(std::min(outstanding, most_credit)) * retry);
  }
  /// Puts one back that was not needed.
  void give_back() noexcept { left_.fetch_add(retry, std::memory_order_relaxed); }
  void give_back_for_answer(std::size_t client) noexcept {
    bucket_of(client).fetch_add(retry, std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t retry = 1000;  // the unit is a thousandth of a retry
  static constexpr std::size_t most_credit = 1'000'000;
  static constexpr std::size_t client_buckets = 64;

  std::atomic<std::int64_t>& bucket_of(std::size_t client) noexcept {
    return left_of_clients_[client % client_buckets];
  }
  void put(std::atomic<std::int64_t>& bucket) const noexcept {
    std::int64_t left = bucket.load(std::memory_order_relaxed);
    while (left < most_) {
      const std::int64_t more = std::min(left + payment_, most_);
      if (bucket.compare_exchange_weak(left, more, std::memory_order_relaxed)) return;
    }
  }
  [[nodiscard]] static bool take_from(std::atomic<std::int64_t>& bucket,
                                      std::int64_t credit) noexcept {
    std::int64_t left = bucket.load(std::memory_order_relaxed);
    while (left + credit >= retry) {
      if (bucket.compare_exchange_weak(left, left - retry, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  const std::int64_t payment_;
  const std::int64_t most_;
  std::atomic<std::int64_t> left_;
  std::array<std::atomic<std::int64_t>, client_buckets> left_of_clients_{};
};

}  // namespace skua::proxy
