// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "loop/clock.hpp"
#include "skua/bytes.hpp"

namespace skua::operations {

/// Tells a queue that has bursts from one that does not get shorter, by the shortest wait of late.
///
/// RFC:       8289, which thins out packets for one sender each; requests that have waited long are
///            refused at once instead, as others wait behind them.
class ControlledDelay final {
 public:
  ControlledDelay(Duration target, Duration interval) noexcept
      : target_(target), interval_(interval) {}

  /// Notes that something has waited this long, and reports whether it is to be refused.
  bool refuses(Duration waited, loop::Instant now) noexcept {
    if (now >= end_) {
      is_overloaded_ =
          end_ != loop::Instant() && shortest_ > target_ && now < later(end_, interval_);
      end_ = later(now, interval_);
      shortest_ = waited;
    }
    shortest_ = std::min(shortest_, waited);
    return is_overloaded_ && waited > 2 * target_;
  }

 private:
  Duration target_;
  Duration interval_;
  Duration shortest_{};         // of this interval
  loop::Instant end_{};         // of this interval
  bool is_overloaded_ = false;  // throughout the last interval
};

}  // namespace skua::operations
