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

/// The threads of a load.
///
/// Lifetime:  the plan outlives it. Destroyed, it breaks the load off.
class Crew final {
 public:
  /// Starts them; `on_end` is called once, by the thread that ends last.
  ///
  /// Ends with: Exception where the system has not enough for their loops.
  Crew(const Plan& plan, std::function<void()> on_end);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  /// Sends no more requests; the second time, waits for no more answers.
  void end_early();

  // While it goes on.
  [[nodiscard]] std::uint64_t answers() const noexcept;
  [[nodiscard]] std::uint64_t failures() const noexcept;

  /// What it came to.
  ///
  /// Waits for: the end.
  Tally result();

 private:
  void join();

  std::function<void()> on_end_;
  std::atomic<std::size_t> running_;
  loop::WorkerPool pool_;  // for the names of hosts
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  bool is_ending_ = false;
};

}  // namespace skua::cli::bench
