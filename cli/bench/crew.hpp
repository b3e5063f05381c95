// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "loop/worker_pool.hpp"

#include "bench/plan.hpp"
#include "bench/worker.hpp"

namespace skua::cli::bench {

/// The threads of a load test.
///
/// Lifetime:  the plan outlives it. The destructor aborts the load.
class Crew final {
 public:
  /// Starts the threads; the last one to finish calls `on_end`.
  ///
  /// Ends with: Exception if the system lacks the resources for an event loop.
  Crew(const Plan& plan, std::function<void()> on_end);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  /// Stops sending requests; the second call also stops waiting for responses.
  void end_early();

  // Valid while the load runs.
  [[nodiscard]] std::uint64_t answers() const noexcept;
  [[nodiscard]] std::uint64_t failures() const noexcept;

  /// Returns the merged tally.
  ///
  /// Waits for: the end of all threads.
  Tally result();

 private:
  void join();

  std::function<void()> on_end_;
  std::atomic<std::size_t> running_;
  loop::WorkerPool pool_;  // for name lookups
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  bool is_ending_ = false;
};

}  // namespace skua::cli::bench
