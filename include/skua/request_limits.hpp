// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

#include "skua/bytes.hpp"

namespace skua {

/// Limits of some requests, in place of those of the server; nullopt keeps the server's. See
/// Router::limits().
struct RequestLimits {
  /// The content, kept or read piece by piece, instead of Limits::body_bytes and
  /// Limits::streamed_body_bytes: 413.
  std::optional<std::size_t> body_bytes{};
  /// The slowest content, instead of Limits::body_bytes_per_second: 408.
  std::optional<std::size_t> body_bytes_per_second{};
  /// Between two pieces of content, instead of Timeouts::body: 408.
  std::optional<Duration> body_timeout{};
  /// The response of a handler that waits, instead of Timeouts::handler: 503, handler dropped, and
  /// with it what it waits for. See Request::time_left().
  std::optional<Duration> handler_timeout{};
};

}  // namespace skua
