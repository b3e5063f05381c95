// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "loop/clock.hpp"

namespace skua::h2 {

/// Peer actions that cost the peer almost nothing but cost us work. Each has a weight.
enum class Abuse : std::uint8_t {
  PeerReset,         ///< RST_STREAM: a request begun for nothing (CVE-2023-44487)
  ProvokedReset,     ///< an error that makes us reset a stream (CVE-2025-8671)
  RefusedStream,     ///< a request over the stream limit
  EmptyData,         ///< DATA without content or END_STREAM (CVE-2019-9518)
  PaddedData,        ///< DATA with more padding than content
  LateFrame,         ///< DATA or HEADERS on a closed stream
  Settings,          ///< each must be acknowledged (CVE-2019-9515)
  Ping,              ///< each must be answered (CVE-2019-9512)
  Priority,          ///< PRIORITY and PRIORITY_UPDATE (CVE-2019-9513)
  WindowUpdate,      ///< one that opens the window noticeably
  TinyWindowUpdate,  ///< one that opens it hardly at all (CVE-2019-9511)
  Continuation,      ///< a header section in small pieces (CVE-2024-27316)
  UnknownFrame,      ///< ignored, but still read
};

/// Limits of an AbuseGuard, in points.
struct AbuseLimits {
  std::uint32_t mark = 20'000;            ///< the connection ends above it
  std::uint32_t leak_per_second = 2'000;  ///< forgiven over time
  std::uint32_t per_response = 100;       ///< forgiven for each complete response
};

/// A score for everything that a peer may do too often. It decays with time and with useful work.
///
/// All kinds share one mark, because an attacker could otherwise stay just below each of many.
/// Useful work forgives points but earns hardly any credit: a long quiet connection has no more
/// room than a new one. Frames that content calls for are free: as it arrives, peers return windows
/// and measure the round trip with PING, in various patterns. Figures: docs/decisions/0018.
class AbuseGuard final {
 public:
  AbuseGuard(const AbuseLimits& limits, loop::Instant now) noexcept
      : limits_(limits), leaked_until_(now) {}

  /// Returns the points charged for one action.
  static std::uint32_t weight(Abuse what) noexcept;

  void charge(Abuse what, loop::Instant now) noexcept;
  /// Charges a WINDOW_UPDATE with this increment, unless sent content pays for it.
  void take_window_update(std::uint32_t bytes, loop::Instant now) noexcept;
  void take_ping(loop::Instant now) noexcept;

  void responded() noexcept { forgive(limits_.per_response); }
  /// A DATA frame was sent. `fills_window`: the peer's window cut it short, so it pays only for its
  /// bytes. Tiny windows thus earn nothing for the many frames that they cause.
  void sent_data(std::size_t bytes, bool fills_window) noexcept {
    const std::size_t least = fills_window ? 0 : free_updates_per_frame * bytes_per_free_update;
    const std::size_t sum = free_update_bytes_ + std::max(bytes, least);
    free_update_bytes_ =
        static_cast<std::uint32_t>(std::min<std::size_t>(sum, max_free_update_bytes));
  }
  /// A HEADERS or DATA frame was sent, which the peer may follow with a PING.
  void sent_frame() noexcept { free_pings_ = pings_per_frame; }

  /// Describes the last charge, as a reason to end the connection.
  [[nodiscard]] const char* reason() const noexcept;
  [[nodiscard]] std::uint32_t score() const noexcept { return score_; }
  [[nodiscard]] bool is_over_mark() const noexcept { return score_ > limits_.mark; }

 private:
  static constexpr std::uint8_t pings_per_frame = 4;
  /// One window update is free per this much content. Go servers that read 512 bytes at a time send
  /// two for each read.
  static constexpr std::uint32_t bytes_per_free_update = 64;
  /// A frame that the window did not cut short pays for at least this many updates.
  static constexpr std::uint32_t free_updates_per_frame = 8;
  static constexpr std::uint32_t max_free_update_bytes = 1024 * 1024;

  void leak(loop::Instant now) noexcept;
  void forgive(std::uint32_t points) noexcept { score_ -= score_ < points ? score_ : points; }

  AbuseLimits limits_;
  loop::Instant leaked_until_;
  std::uint32_t score_ = 0;
  std::uint32_t free_update_bytes_ = 0;  // sent, not yet answered by window updates
  Abuse last_ = Abuse::UnknownFrame;
  std::uint8_t free_pings_ = 0;
};

}  // namespace skua::h2
