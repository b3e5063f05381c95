// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/request_spec.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// How a request ended.
enum class Outcome : std::uint8_t {
  Answered,       ///< with any status below 500
  ServerError,    ///< with another 5xx
  Unavailable,    ///< with 502, 503 or 504
  ConnectFailed,  ///< refused, unreachable, not resolved
  ConnectTimeout,
  TlsFailed,   ///< in the handshake
  Timeout,     ///< for the head of the response, or for more of its content
  Closed,      ///< the connection, or the stream, before the head of a response
  Malformed,   ///< the response is not HTTP
  Incomplete,  ///< the content of the response broke off
  Local,  ///< for want of memory, descriptors or a free connection on our side, or of WebSockets
          ///< on a server for HTTP/2
  Cancelled,  ///< nobody waits for it any more, or the client's own deadline has passed
};
inline constexpr std::size_t outcome_count = 12;

/// Returns its name in metrics: `connect_timeout`.
[[nodiscard]] std::string_view name(Outcome outcome) noexcept;
/// Returns how a request ended whose response has no head.
[[nodiscard]] Outcome outcome_of(Error error, const Reached& reached) noexcept;
/// Returns how a request ended whose response has one.
[[nodiscard]] Outcome outcome_of(std::uint16_t status) noexcept;

}  // namespace skua::client
