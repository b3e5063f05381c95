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
  [[nodiscard]] bool is_over() const noexcept {
    return time() >= until_.load(std::memory_order_relaxed);
  }
  void begin() noexcept {
    const loop::Instant next = later(loop::SteadyClock().now(), Duration(1s));
    until_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  }

 private:
  using Ticks = loop::Instant::rep;

  [[nodiscard]] static Ticks time() noexcept {
    return loop::SteadyClock().now().time_since_epoch().count();
  }

  std::atomic<Ticks> until_{0};
};

}  // namespace skua::middleware
