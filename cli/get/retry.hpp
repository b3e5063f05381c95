// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "get/options.hpp"
#include "loop/clock.hpp"
#include "skua/bytes.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::cli {

/// Reports whether a request that failed in this way may succeed later.
bool is_transient(Errc code) noexcept;
/// Reports whether a request with this answer may succeed later: 408, 425, 429, 500, 502, 503, 504.
bool is_transient(Status status) noexcept;

/// Parses a Retry-After field: seconds or a date. A past date is zero.
///
/// RFC:       9110 §10.2.3
std::optional<Duration> parse_retry_after(std::string_view field, std::chrono::sys_seconds now);

/// A request that is going to be repeated.
struct Retry {
  Duration wait{};     ///< before it
  std::string line{};  ///< for standard error
};

/// Decides whether one request of the command line is sent again.
///
/// A request that may have reached a server is sent again only if its method is idempotent and its
/// content can be produced again. RFC 9110 §9.2.2
class Attempts final {
 public:
  /// Lifetime:  the options outlive it.
  Attempts(const GetOptions& options, bool has_repeatable_content, loop::Instant now);

  /// Call it for each head of the request in progress; see ClientRequest::on_head().
  void note_head() noexcept { is_sent_ = true; }

  /// Decides what follows a response or the lack of one.
  std::optional<Retry> after(const Result<ClientResponse, Problem>& outcome, loop::Instant now);
  /// Decides what follows an error, possibly in the middle of the content.
  std::optional<Retry> after(const Problem& problem, loop::Instant now);
  /// Decides what follows a status, given the value of Retry-After.
  std::optional<Retry> after(Status status, std::optional<Duration> asked, loop::Instant now);

 private:
  [[nodiscard]] bool may_repeat() const noexcept { return !is_sent_ || is_repeatable_; }
  std::optional<Retry> next(std::optional<Duration> asked, std::string_view why, loop::Instant now);

  const RetryOptions& options_;
  const loop::Instant last_;  // no attempt begins later
  Duration backoff_;
  const bool is_repeatable_;
  bool is_sent_ = false;
  unsigned count_ = 0;
};

}  // namespace skua::cli
