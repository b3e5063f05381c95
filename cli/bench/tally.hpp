// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/counter.hpp"
#include "bench/histogram.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::cli::bench {

/// The ways in which a request can fail.
enum class Failure : std::uint8_t {
  Connect,    ///< no connection could be made
  Read,       ///< the connection ended before the response
  Write,      ///< the request could not be sent
  Timeout,    ///< no response within the time limit
  Malformed,  ///< the received data is not a response
};
inline constexpr std::size_t failure_count = 5;

std::string_view name_of(Failure failure) noexcept;

/// The results of a load test, of one thread or of all.
struct Tally {
  // Other threads read these two while the load runs.
  base::Counter answers;
  base::Counter failures;

  std::array<std::uint64_t, 500> codes{};  ///< by status code: 100 to 599
  std::uint64_t other_statuses = 0;        ///< outside 100 to 599
  std::array<std::uint64_t, failure_count> failed{};
  std::array<std::string, failure_count> reasons{};  ///< of the first failure of each kind
  Errc refusal = Errc::None;                         ///< the code of the first failure to connect
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t connections = 0;  ///< opened
  std::uint64_t reconnects = 0;   ///< opened in place of one that had ended
  std::uint64_t missed = 0;       ///< requests that were never sent
  std::uint64_t warmup_answers = 0;
  base::Histogram latency;      ///< since a request was due; without a rate: sent
  base::Histogram uncorrected;  ///< since it was sent; empty without a rate
  Duration elapsed{};           ///< from the first connection to the last answer
  Duration cpu{};               ///< of all threads
  double busiest = 0;           ///< the busy share of the busiest thread's time

  void count_status(unsigned status) noexcept;
  void count_failure(Failure kind, std::string_view reason);
  void count_refusal(Errc code, std::string_view reason);
  void merge(const Tally& other);
  /// Ends the warm-up: resets all counts except `connections`, and keeps `warmup_answers`.
  void begin_again();

  /// Returns a count per second of `elapsed`.
  [[nodiscard]] double per_second(std::uint64_t count) const noexcept;
  /// Returns the number of responses in a status class, from 1 (1xx) to 5 (5xx).
  [[nodiscard]] std::uint64_t of_class(std::size_t hundreds) const noexcept;
  /// Returns the number of 4xx and 5xx responses.
  [[nodiscard]] std::uint64_t bad_statuses() const noexcept { return of_class(4) + of_class(5); }
};

}  // namespace skua::cli::bench
