// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loop/clock.hpp"

#include "bench/plan.hpp"

namespace skua::cli::bench {

/// Which requests a worker has still to send, and when each of them is due.
///
/// Without a rate a request is due whenever there is somebody to send it. With one they are due at
/// times that do not depend on the answers: what cannot be sent then is sent later, and is late.
class Schedule final {
 public:
  explicit Schedule(const Share& share) noexcept
      : left_(share.requests),
        interval_ns_(share.rate ? 1e9 / *share.rate : 0),
        offset_ns_(interval_ns_ * share.offset) {}

  /// From now on requests become due.
  void begin(loop::Instant now) noexcept {
    begin_ = now;
    has_begun_ = true;
  }
  /// No more requests become due; those that were, and were not sent, are missed().
  void end(loop::Instant now) noexcept;

  /// Takes the next request, if it is to be sent now; the time at which it was due.
  std::optional<loop::Instant> take(loop::Instant now) noexcept {
    if (is_over()) return std::nullopt;
    const loop::Instant due = has_rate() ? next_due() : now;
    if (due > now) return std::nullopt;
    if (!returned_.empty()) return take_returned();
    ++taken_;
    if (left_) --*left_;
    return due;
  }
  /// A request that was taken was not seen by the server after all.
  void give_back(loop::Instant due);

  /// Whether nothing will ever be there to take.
  [[nodiscard]] bool is_over() const noexcept {
    return has_ended_ || (left_ && *left_ == 0 && returned_.empty());
  }
  [[nodiscard]] bool has_rate() const noexcept { return interval_ns_ != 0; }
  /// When the next request is due; only where there is a rate, and it has begun.
  [[nodiscard]] loop::Instant next_due() const noexcept {
    if (!returned_.empty()) return returned_.back();
    const double since = offset_ns_ + interval_ns_ * static_cast<double>(taken_);
    return begin_ + Duration(static_cast<Duration::rep>(since));
  }
  /// Requests that were due, or asked for by their number, and that nobody could send. After end().
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
