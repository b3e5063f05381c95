// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace skua::base {

/// A counter that one thread increments and any thread reads, without locked instructions.
class Counter {
 public:
  Counter() noexcept = default;
  Counter(const Counter& other) noexcept : value_(other.value()) {}
  Counter& operator=(const Counter& other) noexcept {
    value_.store(other.value(), std::memory_order_relaxed);
    return *this;
  }

  Counter& operator+=(std::uint64_t count) noexcept {
    value_.store(value() + count, std::memory_order_relaxed);
    return *this;
  }
  Counter& operator++() noexcept { return *this += 1; }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }
  operator std::uint64_t() const noexcept { return value(); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace skua::base
