// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/intrusive_list.hpp"
#include "client/connect/connector.hpp"
#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "net/output_queue.hpp"
#include "sockets/resolver.hpp"

#include "bench/connection.hpp"
#include "bench/h1_speaker.hpp"
#include "bench/plan.hpp"
#include "bench/schedule.hpp"
#include "bench/tally.hpp"

namespace skua::cli::bench {

/// One thread's share of a load test: its loop and its connections.
///
/// Lifetime:  the plan outlives it. One thread may create it and another run() it; everything
///            except end_early(), abandon() and result()'s counters is for the running thread.
class Worker final {
 public:
  Worker(const Plan& plan, std::size_t index, std::unique_ptr<loop::Loop> loop,
         loop::WorkerPool& pool);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() = default;

  /// Runs the load.
  ///
  /// Waits for: its end, and responses to all sent requests, for at most Plan::timeout.
  void run();
  /// Stops sending requests. Callable from any thread.
  void end_early();
  /// Also stops waiting for responses. Callable from any thread.
  void abandon();
  /// Returns the tally. Until run() returns, other threads may read only its counters.
  [[nodiscard]] const Tally& result() const noexcept { return tally_; }

  // For its connections.

  [[nodiscard]] loop::Loop& loop() noexcept { return *loop_; }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] client::Connector& connector() noexcept { return connector_; }
  [[nodiscard]] net::OutputQueue::Blocks& blocks() noexcept { return blocks_; }
  [[nodiscard]] Schedule& schedule() noexcept { return schedule_; }
  [[nodiscard]] Tally& tally() noexcept { return tally_; }
  /// Returns the time, to the nanosecond.
  [[nodiscard]] static loop::Instant now() noexcept { return loop::SteadyClock().now(); }
  std::unique_ptr<Speaker> make_speaker(AnswerSink& sink);

  void connected(bool is_reconnect);
  /// Reports whether any connection was ever open.
  [[nodiscard]] bool has_connections() const noexcept { return first_open_.has_value(); }
  /// Called when the first attempt of a connection failed.
  void refused();
  void answered(const Asked& asked, unsigned status, loop::Instant now);
  void wait_for_due(Connection& connection) noexcept { waiting_.push_back(connection); }
  void connection_done() noexcept { ++done_; }

 private:
  void begin();
  void begin_to_count();
  void end();
  void sweep();
  void send_due();
  [[nodiscard]] Duration time_to_wait() const noexcept;
  void conclude();

  const Plan& plan_;
  const std::unique_ptr<loop::Loop> loop_;
  Schedule schedule_;
  Tally tally_;
  client::Resolver resolver_;
  client::Connector connector_;
  net::OutputQueue::Blocks blocks_{16};
  RequestBlock block_;
  h1::SkimmerMemory skimmed_;
  loop::Timer warmup_;
  loop::Timer end_;
  loop::Timer sweep_;
  base::IntrusiveList<Connection> waiting_;  // connections with room, until a request is due
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t done_ = 0;
  std::size_t refused_ = 0;
  bool is_ending_ = false;
  std::optional<loop::Instant> first_open_{};
  loop::Instant counted_from_{};
  loop::Instant last_answer_{};
  Duration cpu_before_{};
  loop::Instant ran_from_{};
};

}  // namespace skua::cli::bench
