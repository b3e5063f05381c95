// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

/// Input and output of every client of bench/client.
namespace bench::clients {

/// Command line options that all clients share.
struct Plan {
  std::string url;
  std::size_t connections = 1;
  /// Total of all connections.
  std::size_t requests = 1000;
};

/// Requests, wall time and CPU time of this process since construction.
class Measurement final {
 public:
  Measurement();

  /// Counts a completed request and the content of its response.
  void add(std::size_t content_bytes) noexcept {
    ++requests_;
    bytes_ += content_bytes;
  }
  /// Prints one line of JSON.
  void print() const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double user_seconds_;
  double system_seconds_;
  std::size_t requests_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace bench::clients
