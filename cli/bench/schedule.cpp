// SPDX-License-Identifier: MIT
// In: a share of the load. Out: the due times of its requests.
#include "bench/schedule.hpp"

namespace skua::cli::bench {

void Schedule::end(loop::Instant now) noexcept {
  if (has_ended_) return;
  if (has_rate()) {
    // Only requests that are already due count as missed.
    while (has_begun_ && take(now)) ++missed_;
  } else {
    missed_ = left_.value_or(0) + (left_ ? returned_.size() : 0);
  }
  has_ended_ = true;
}

void Schedule::give_back(loop::Instant due) {
  if (has_ended_) {
    if (has_rate()) ++missed_;
    return;
  }
  returned_.push_back(due);
}

std::optional<loop::Instant> Schedule::take_returned() noexcept {
  const loop::Instant due = returned_.back();
  returned_.pop_back();
  return due;
}

}  // namespace skua::cli::bench
