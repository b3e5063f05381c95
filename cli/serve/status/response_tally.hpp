// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "skua/bytes.hpp"
#include "skua/options.hpp"

namespace skua::cli {

/// A request, for people.
struct SlowRequest {
  std::string text{};  ///< `GET /large.iso`; escaped, printable ASCII
  Duration duration{};
};

/// Errors and the slowest request of the last seconds, which the server's counters do not have.
/// Threads of the server add records at once; only an error or a request slower than all others
/// does more than read a number.
class ResponseTally final {
 public:
  void add(const RequestRecord& record);

  [[nodiscard]] std::uint64_t client_errors() const noexcept { return client_errors_; }
  [[nodiscard]] std::uint64_t server_errors() const noexcept { return server_errors_; }
  /// Returns the slowest request of this period and the last; nullopt if there was none.
  [[nodiscard]] std::optional<SlowRequest> slowest() const;
  /// Begins the next period. Requests of the one before the last are forgotten.
  void next_period();

 private:
  std::atomic<std::uint64_t> client_errors_{0};
  std::atomic<std::uint64_t> server_errors_{0};
  std::atomic<Duration::rep> longest_{0};  // of this period, in nanoseconds
  mutable std::mutex mutex_;
  std::array<std::optional<SlowRequest>, 2> periods_{};  // this one and the last
};

}  // namespace skua::cli
