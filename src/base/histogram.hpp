// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "skua/bytes.hpp"

namespace skua::base {

/// How often durations were how long, to three significant digits, in a fixed 184 KiB.
///
/// Up to 2048 us a bucket is one microsecond wide; from there on each power of two has 1024 of
/// them. Least, greatest and mean are exact. What is shorter than `shortest` counts as that, what
/// is longer than `longest` as that; a negative duration as none at all.
class Histogram final {
 public:
  static constexpr Duration shortest = 1us;
  static constexpr Duration longest = 1h;

  Histogram();

  void record(Duration duration) noexcept;
  /// Adds what another one has recorded.
  void merge(const Histogram& other) noexcept;
  /// Forgets everything.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // Zero where nothing was recorded, as all that follows.
  [[nodiscard]] Duration min() const noexcept;
  [[nodiscard]] Duration max() const noexcept { return max_; }
  [[nodiscard]] Duration mean() const noexcept;
  /// The standard deviation of all that was recorded, from the middles of the buckets.
  [[nodiscard]] Duration deviation() const noexcept;
  /// The shortest duration that this share of the recorded ones, 0 to 100, does not exceed: at most
  /// 0.1 % above the true one, and never above max().
  [[nodiscard]] Duration percentile(double percent) const noexcept;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t total_nanoseconds_ = 0;
  Duration min_ = Duration::max();
  Duration max_{};
};

}  // namespace skua::base
