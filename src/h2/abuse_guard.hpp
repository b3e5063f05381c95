// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
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
};

/// One score for everything that a peer may do too often. It leaks with time and with useful work.
///
/// There is one mark for all kinds, because an attacker would otherwise stay below each of many.
/// Useful work forgives, but little is saved up: a long quiet connection has no more room than a
/// new one. What content calls for is free: peers give windows back and measure the round trip with
/// PING as content arrives, each in its own pieces. docs/decisions/0018 has the figures.
class AbuseGuard final {
 public:
  AbuseGuard(const AbuseLimits& limits, loop::Instant now) noexcept
      : limits_(limits), leaked_until_(now) {}

  /// The points that one costs.
  static std::uint32_t weight(Abuse what) noexcept;

  void charge(Abuse what, loop::Instant now) noexcept;
  /// A WINDOW_UPDATE by so many bytes.
  void take_window_update(std::uint32_t bytes, loop::Instant now) noexcept;
  void take_ping(loop::Instant now) noexcept;

  void responded() noexcept { forgive(limits_.per_response); }
  /// A DATA frame is sent. `fills_window`: it would have been longer, had the peer's window allowed
  /// it. A peer that keeps windows tiny gets nothing for the many frames that this costs.
  void sent_data(std::size_t bytes, bool fills_window) noexcept {
    const std::size_t least = fills_window ? 0 : free_updates_per_frame * bytes_per_free_update;
    const std::size_t sum = free_update_bytes_ + std::max(bytes, least);
    free_update_bytes_ =
        static_cast<std::uint32_t>(std::min<std::size_t>(sum, most_free_update_bytes));
  }
  /// A HEADERS or DATA frame was sent, which a peer may answer with a PING.
  void sent_frame() noexcept { free_pings_ = pings_per_frame; }

  /// What the last charge was for, as the reason to end a connection.
  [[nodiscard]] const char* reason() const noexcept;
  [[nodiscard]] std::uint32_t score() const noexcept { return score_; }
  [[nodiscard]] bool is_over_mark() const noexcept { return score_ > limits_.mark; }

 private:
  static constexpr std::uint8_t pings_per_frame = 4;
  /// A window update is free for each so many bytes of content: servers of Go that read by 512
  /// bytes give two for them.
  static constexpr std::uint32_t bytes_per_free_update = 64;
  /// A frame that the window did not cut short pays for so many, however short it is.
  static constexpr std::uint32_t free_updates_per_frame = 8;
  static constexpr std::uint32_t most_free_update_bytes = 1024 * 1024;

  void leak(loop::Instant now) noexcept;
  void forgive(std::uint32_t points) noexcept { score_ -= score_ < points ? score_ : points; }

  AbuseLimits limits_;
  loop::Instant leaked_until_;
  std::uint32_t score_ = 0;
  std::uint32_t free_update_bytes_ = 0;  // sent, and not yet answered by window updates
  Abuse last_ = Abuse::UnknownFrame;
  std::uint8_t free_pings_ = 0;
};

}  // namespace skua::h2
