// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "serve/status/response_tally.hpp"
#include "skua/counters.hpp"

namespace skua::cli {

/// A line for a terminal, and how many columns it takes.
struct StatusText {
  std::string text{};
  std::size_t width = 0;
};

/// Formats the state of a server in a line:
/// `1,234 req/s  5.6 MiB/s  12 open  3 x 4xx  1 x 5xx  slowest 1.23 s GET /large.iso`
class StatusLine final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit StatusLine(bool has_colours) : has_colours_(has_colours) {}

  /// Adds the present state. Rates are those between the last few samples.
  void sample(const Counters& counters, Time now);
  /// Formats the last sample in less than `columns`, because a full line would wrap on some
  /// terminals. The text is empty before the first connection.
  [[nodiscard]] StatusText text(const ResponseTally& tally, std::size_t columns) const;

 private:
  struct Sample {
    Time time;
    Counters counters;
  };

  std::deque<Sample> samples_;  // the oldest first
  bool has_colours_;
};

}  // namespace skua::cli
