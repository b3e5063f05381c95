// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "skua/bytes.hpp"

namespace skua::base {

/// A histogram of durations with three significant digits, in a fixed 184 KiB.
///
/// Buckets are 1 us wide up to 2048 us; from there on each power of two has 1024 of them.
/// Minimum, maximum and mean are exact. Durations outside `shortest` to `longest` count in the
/// first or the last bucket; negative ones count as zero.
class Histogram final {
 public:
  static constexpr Duration shortest = 1us;
  static constexpr Duration longest = 1h;

  Histogram();

  void record(Duration duration) noexcept;
  /// Adds the records of another histogram.
  void merge(const Histogram& other) noexcept;
  /// Removes all records.
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // All of these are zero if nothing was recorded.
  [[nodiscard]] Duration min() const noexcept;
  [[nodiscard]] Duration max() const noexcept { return max_; }
  [[nodiscard]] Duration mean() const noexcept;
  /// The standard deviation of all records, computed from the middles of the buckets.
  [[nodiscard]] Duration deviation() const noexcept;
  /// The percentile `percent` (0 to 100): at most 0.1 % above the true one, never above max().
  [[nodiscard]] Duration percentile(double percent) const noexcept;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t total_nanoseconds_ = 0;
  Duration min_ = Duration::max();
  Duration max_{};
};

}  // namespace skua::base
