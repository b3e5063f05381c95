// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loop/clock.hpp"

#include "bench/plan.hpp"

namespace skua::cli::bench {

/// The requests that a worker still has to send, with their due times.
///
/// Without a rate, a request is due whenever a connection can send it. With a rate, due times do
/// not depend on the responses: a request that cannot be sent on time is sent late.
class Schedule final {
 public:
  explicit Schedule(const Share& share) noexcept
      : left_(share.requests),
        interval_ns_(share.rate ? 1e9 / *share.rate : 0),
        offset_ns_(interval_ns_ * share.offset) {}

  /// Starts the schedule: requests become due from now on.
  void begin(loop::Instant now) noexcept {
    begin_ = now;
    has_begun_ = true;
  }
  /// Ends the schedule: requests that are due but not sent are missed().
  void end(loop::Instant now) noexcept;

  /// Takes the next request if it is due; returns its due time.
  std::optional<loop::Instant> take(loop::Instant now) noexcept {
    if (is_over()) return std::nullopt;
    const loop::Instant due = has_rate() ? next_due() : now;
    if (due > now) return std::nullopt;
    if (!returned_.empty()) return take_returned();
    ++taken_;
    if (left_) --*left_;
    return due;
  }
  /// Returns a taken request that the server has not processed, so that it is sent again.
  void give_back(loop::Instant due);

  /// Reports whether there will never be another request to take.
  [[nodiscard]] bool is_over() const noexcept {
    return has_ended_ || (left_ && *left_ == 0 && returned_.empty());
  }
  [[nodiscard]] bool has_rate() const noexcept { return interval_ns_ != 0; }
  /// Returns when the next request is due. Requires a rate, and a call of begin().
  [[nodiscard]] loop::Instant next_due() const noexcept {
    if (!returned_.empty()) return returned_.back();
    const double since = offset_ns_ + interval_ns_ * static_cast<double>(taken_);
    return begin_ + Duration(static_cast<Duration::rep>(since));
  }
  /// Returns the number of requests that were due or requested, but never sent. Valid after end().
  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

 private:
  std::optional<loop::Instant> take_returned() noexcept;

  std::optional<std::uint64_t> left_;
  const double interval_ns_;
  const double offset_ns_;
  loop::Instant begin_{};
  std::uint64_t taken_ = 0;
  std::uint64_t missed_ = 0;
  std::vector<loop::Instant> returned_;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

}  // namespace skua::cli::bench
