// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

/// What every client of bench/client is told, and what it tells in the end.
namespace bench::clients {

/// The command line, the same for all of them.
struct Plan {
  std::string url;
  std::size_t connections = 1;
  /// Of all connections together.
  std::size_t requests = 1000;
};

/// What was done since it was made: the time, and the CPU of this process.
class Measurement final {
 public:
  Measurement();

  /// A request has ended, and this much content was read of its response.
  void add(std::size_t content_bytes) noexcept {
    ++requests_;
    bytes_ += content_bytes;
  }
  /// One line of JSON.
  void print() const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double user_seconds_;
  double system_seconds_;
  std::size_t requests_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace bench::clients
