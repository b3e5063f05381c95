// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop/clock.hpp"
#include "loop/loop.hpp"
#include "skua/body.hpp"

namespace skua::client {

/// Spreads bytes evenly over time: says how many may be passed on at once, and when. A pause that
/// took too long is made up for, unless it was longer than `slack`.
class Pace final {
 public:
  static constexpr Duration slack = 100ms;

  /// Without a limit, everything may be passed on at any time.
  Pace() noexcept = default;
  /// A limit of zero bytes per second is none.
  explicit Pace(std::uint64_t bytes_per_second) noexcept : bytes_per_second_(bytes_per_second) {}

  /// Returns the most bytes to pass on at once, at least one.
  [[nodiscard]] std::size_t piece_bytes() const noexcept;
  /// Notes that bytes were passed on.
  void note(std::uint64_t count, loop::Instant now) noexcept;
  /// Returns how long to wait for the next piece.
  [[nodiscard]] Duration left(loop::Instant now) const noexcept {
    return due_ > now ? due_ - now : Duration(0);
  }

 private:
  std::uint64_t bytes_per_second_ = 0;
  loop::Instant due_ = loop::Instant::min();
};

/// Returns content that is produced at this pace: of a text, a file range or a producer. Content
/// that is empty is returned as it is.
///
/// Lifetime:  the loop outlives it.
[[nodiscard]] Body paced(Body content, std::uint64_t bytes_per_second, loop::Loop& loop);

}  // namespace skua::client
