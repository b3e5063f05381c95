// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "connections.hpp"

namespace CLI {
class App;
}

namespace bench::load {

/// Options that all load generators have.
struct LoadOptions {
  std::uint16_t port = 0;
  std::size_t connections = 64;
  std::size_t size = 16;
  double seconds = 3;
};
void add_options(CLI::App& app, LoadOptions& options);

/// Connections on which the same message is sent and the same answer expected.
///
/// The work per message is the same for every server, so the generator's CPU time is a yardstick.
/// Every received byte is compared. Member functions throw std::runtime_error.
class Load final {
 public:
  Load(std::string sent, std::string expected);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load();

  /// Takes over a non-blocking socket.
  void add(int fd);
  /// Keeps one message in flight on each connection; prints counts and latencies.
  void echo(double seconds);
  /// Sends a message on `publisher`, whose owner it becomes, and the next one once each connection
  /// has received it; prints counts.
  void publish(int publisher, double seconds);

 private:
  using Clock = std::chrono::steady_clock;

  void run(double seconds);
  void send(int fd);
  void take(int fd);
  double percentile(double share);  // in microseconds; 0 without echoes

  std::string sent_;
  std::string expected_;
  int epoll_;
  int publisher_ = -1;  // -1: each connection gets its own messages back
  std::vector<int> sockets_;
  std::vector<Repetition> streams_;  // by descriptor
  std::vector<char> buffer_;
  std::size_t messages_ = 0;                // received
  std::vector<Clock::time_point> sent_at_;  // by descriptor
  std::vector<Clock::duration> waits_;      // of each echo
};

/// The main function of a generator: runs it, and prints what it throws.
int run_generator(const char* name, int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace bench::load
