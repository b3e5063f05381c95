// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/counter.hpp"
#include "base/histogram.hpp"
#include "skua/bytes.hpp"

namespace skua::cli::bench {

/// What can happen to a request instead of an answer.
enum class Failure : std::uint8_t {
  Connect,    ///< no connection could be made for it
  Read,       ///< the connection ended before the answer did
  Write,      ///< it could not be sent
  Timeout,    ///< no answer in time
  Malformed,  ///< what came is no answer
};
inline constexpr std::size_t failure_count = 5;

std::string_view name_of(Failure failure) noexcept;

/// What a load has come to: of one thread, or of all.
struct Tally {
  // Other threads read these two while it goes on.
  base::Counter answers;
  base::Counter failures;

  std::array<std::uint64_t, 500> codes{};  ///< by status code: 100 to 599
  std::uint64_t other_statuses = 0;        ///< of no class that HTTP knows
  std::array<std::uint64_t, failure_count> failed{};
  std::array<std::string, failure_count> reasons{};  ///< of the first of each kind
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t connections = 0;  ///< that were made
  std::uint64_t reconnects = 0;   ///< that were made in place of one that had ended
  std::uint64_t missed = 0;       ///< requests that were wanted and never sent
  std::uint64_t warmup_answers = 0;
  base::Histogram latency;      ///< from when a request was due; without a rate: was sent
  base::Histogram uncorrected;  ///< from when it was sent; filled only where there is a rate
  Duration elapsed{};           ///< from the first connection to the last answer
  Duration cpu{};               ///< of the threads
  double busiest = 0;           ///< the share of its time that the busiest thread was at work

  void count_status(unsigned status) noexcept;
  void count_failure(Failure kind, std::string_view reason);
  void merge(const Tally& other);
  /// What was counted until now belongs to the warm-up.
  void begin_again();

  /// So much of what was counted came in a second.
  [[nodiscard]] double per_second(std::uint64_t count) const noexcept;
  /// Responses of a class: 1 for 1xx, to 5.
  [[nodiscard]] std::uint64_t of_class(std::size_t hundreds) const noexcept;
  /// Responses that tell of an error: 4xx and 5xx.
  [[nodiscard]] std::uint64_t bad_statuses() const noexcept { return of_class(4) + of_class(5); }
};

}  // namespace skua::cli::bench
