// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "client/request_spec.hpp"
#include "loop/clock.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"

namespace skua::proxy {

/// How a request to a member of a group ended.
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
  Cancelled,  ///< the client has left, or its own deadline has passed
};
inline constexpr std::size_t outcome_count = 12;

/// Returns its name in metrics: `connect_timeout`.
[[nodiscard]] std::string_view name(Outcome outcome) noexcept;
/// Reports whether it speaks against the member, so that too many of them eject it.
[[nodiscard]] bool is_failure(Outcome outcome) noexcept;
/// Returns how a request ended whose response has no head.
[[nodiscard]] Outcome outcome_of(Error error, const client::Reached& reached) noexcept;
/// Returns how a request ended whose response has one.
[[nodiscard]] Outcome outcome_of(std::uint16_t status) noexcept;

/// One server of a group, as all threads see it. Numbers that only tell are relaxed atomics.
struct Member final {
  Member(std::size_t target, std::string text, std::optional<Address> at, unsigned times);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() = default;

  [[nodiscard]] loop::Instant ejection_end() const noexcept {
    return loop::Instant(Duration(ejected_until.load(std::memory_order_relaxed)));
  }
  [[nodiscard]] bool is_ejected(loop::Instant now) const noexcept { return now < ejection_end(); }
  /// Returns its weight while it comes back. It is in service since `back_since`, or since it was
  /// last ejected.
  [[nodiscard]] double weight_at(loop::Instant now, Duration slow_start) const noexcept;

  const std::size_t target;              // its index in UpstreamOptions::targets
  const std::string name;                // `10.0.0.1:3000`
  const std::optional<Address> address;  // of UpstreamTarget::each_address
  const unsigned weight;
  const std::uint64_t hash;  // of the name

  std::atomic<std::uint32_t> outstanding{0};
  std::atomic<std::int64_t> credit{0};     // of next_in_turn()
  std::atomic<bool> is_down{false};        // by checks
  std::atomic<std::uint32_t> failures{0};  // in a row
  std::atomic<Duration::rep> ejected_until{long_ago};
  std::atomic<Duration::rep> back_since{long_ago};

  // Guarded by the group's mutex.
  std::uint32_t ejections_in_a_row = 0;
  std::uint32_t passed_checks_in_a_row = 0;
  std::uint32_t failed_checks_in_a_row = 0;

  // Told only.
  std::array<std::atomic<std::uint64_t>, outcome_count> outcomes{};
  std::atomic<std::uint64_t> retries{0};  // after a request to this one
  std::atomic<std::uint64_t> ejections{0};
  std::atomic<std::uint64_t> passed_checks{0};
  std::atomic<std::uint64_t> failed_checks{0};

 private:
  // Far from the ends of the range, so that differences do not overflow.
  static constexpr Duration::rep long_ago = INT64_MIN / 4;
};

}  // namespace skua::proxy
