// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "loop/clock.hpp"

namespace skua::h2 {

/// What costs a peer next to nothing and us something. Each has a weight.
enum class Abuse : std::uint8_t {
  PeerReset,         ///< RST_STREAM: a request that was begun for nothing (CVE-2023-44487)
  ProvokedReset,     ///< an error that makes us reset a stream (CVE-2025-8671)
  RefusedStream,     ///< a request beyond the streams that were allowed
  EmptyData,         ///< DATA without content that ends nothing (CVE-2019-9518)
  PaddedData,        ///< DATA that is padding more than content
  LateFrame,         ///< DATA or HEADERS for a stream that is over
  Settings,          ///< each is acknowledged (CVE-2019-9515)
  Ping,              ///< each is answered (CVE-2019-9512)
  Priority,          ///< PRIORITY and PRIORITY_UPDATE (CVE-2019-9513)
  WindowUpdate,      ///< that lets us send something
  TinyWindowUpdate,  ///< that lets us send next to nothing (CVE-2019-9511)
  Continuation,      ///< a header section in small pieces (CVE-2024-27316)
  UnknownFrame,      ///< ignored, but read
};

/// What an AbuseGuard puts up with, in points.
struct AbuseLimits {
  std::uint32_t mark = 20'000;            ///< above it the connection ends
  std::uint32_t leak_per_second = 2'000;  ///< forgiven as time passes
  std::uint32_t per_response = 100;       ///< forgiven for a response that was sent whole
  std::uint32_t per_data_frame = 2;       ///< forgiven for a DATA frame that was sent
};

/// One score for everything that a peer may do too often: it leaks with time and with useful work.
///
/// One mark for all, since an attacker would else stay below each of many. Useful work forgives,
/// but nothing is saved up: a long quiet connection has no more room than a new one.
class AbuseGuard final {
 public:
  AbuseGuard(const AbuseLimits& limits, loop::Instant now) noexcept
      : limits_(limits), leaked_until_(now) {}

  /// The points that one costs.
  static std::uint32_t weight(Abuse what) noexcept;

  void charge(Abuse what, loop::Instant now) noexcept;
  void responded() noexcept { forgive(limits_.per_response); }
  void sent_data_frame() noexcept { forgive(limits_.per_data_frame); }

  [[nodiscard]] std::uint32_t score() const noexcept { return score_; }
  [[nodiscard]] bool is_over_mark() const noexcept { return score_ > limits_.mark; }

 private:
  void leak(loop::Instant now) noexcept;
  void forgive(std::uint32_t points) noexcept { score_ -= score_ < points ? score_ : points; }

  AbuseLimits limits_;
  loop::Instant leaked_until_;
  std::uint32_t score_ = 0;
};

}  // namespace skua::h2
