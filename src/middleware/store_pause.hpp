// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "loop/clock.hpp"
#include "skua/bytes.hpp"

namespace skua::middleware {

/// Leaves a store alone for a second after it has failed, so that not every request has to wait for
/// it. Thread-safe.
class StorePause final {
 public:
  /// Reports whether to ask the store. Once it has failed, one request each second does.
  [[nodiscard]] bool asks() noexcept {
    Ticks until = until_.load(std::memory_order_relaxed);
    if (until == 0) return true;
    const loop::Instant now = loop::SteadyClock().now();
    return now.time_since_epoch().count() >= until &&
           until_.compare_exchange_strong(until, after(now), std::memory_order_relaxed);
  }
  /// Takes in whether the store has answered.
  void note(bool has_answered) noexcept {
    if (!has_answered) {
      until_.store(after(loop::SteadyClock().now()), std::memory_order_relaxed);
    } else if (until_.load(std::memory_order_relaxed) != 0) {
      until_.store(0, std::memory_order_relaxed);
    }
  }

 private:
  using Ticks = loop::Instant::rep;

  [[nodiscard]] static Ticks after(loop::Instant now) noexcept {
    return later(now, Duration(1s)).time_since_epoch().count();
  }

  std::atomic<Ticks> until_{0};  // 0: it has not failed
};

}  // namespace skua::middleware
