// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/wire/pool.hpp"
#include "skua/async.hpp"

namespace skua::client {

/// A connection that a test decides about.
class FakeConnection final : public PooledConnection {
 public:
  FakeConnection(Pool& pool, std::string name, std::size_t streams, std::size_t& asked)
      : pool_(pool), name_(std::move(name)), streams_(streams), asked_(asked) {}

  [[nodiscard]] std::size_t capacity() const noexcept override {
    ++asked_;
    return is_dead ? 0 : streams_;
  }
  void close() override { static_cast<void>(pool_.remove(*this)); }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  bool is_dead = false;

 private:
  Pool& pool_;
  std::string name_;
  std::size_t streams_;
  std::size_t& asked_;  // calls of capacity(), for all connections
};

/// Keeps what a pool tells.
class RecordingMeter final : public Meter {
 public:
  void more(Gauge gauge) noexcept override { change(gauge, 1); }
  void fewer(Gauge gauge) noexcept override { change(gauge, -1); }
  void waited(Duration time) noexcept override { waits.push_back(time); }
  void reused() noexcept override { ++reuses; }
  void secured(bool) noexcept override {}
  void responded(std::uint16_t, Duration) noexcept override {}
  void failed(Error, const Reached&) noexcept override {}
  void cancelled() noexcept override {}
  void cut() noexcept override {}

  /// Open, idle, connecting, waiting.
  std::array<int, 4> gauges{};
  std::vector<Duration> waits{};
  int reuses = 0;

 private:
  void change(Gauge gauge, int by) {
    int& value = gauges[static_cast<std::size_t>(gauge)];
    value += by;
    EXPECT_GE(value, 0);
  }
};

/// A request, which keeps its connection until it is told to end.
struct Use {
  std::string name{};  // of its connection, or the problem's text
  bool is_reused = false;
  Event end{};
  std::optional<Task<>> task{};
};

class PoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = loop::Loop::create({.backend = BackendChoice::Poll, .clock = &clock_}).value();
    make({.per_host = 2, .total = 3, .idle = 50s});
  }
  void TearDown() override {
    uses_.clear();
    if (pool_ != nullptr) pool_->close_all();
    settle();
    EXPECT_EQ(meter_.gauges, (std::array<int, 4>{})) << "in the end there is nothing";
  }
  void make(const PoolLimits& limits) { pool_ = std::make_unique<Pool>(*loop_, limits, &meter_); }
  void settle() {
    for (int i = 0; i < 4; ++i) loop_->run_once(Duration(0));
  }
  Use& begin(const std::string& host, Duration limit = 10s) {
    uses_.push_back(std::make_unique<Use>());
    Use& use = *uses_.back();
    loop_->post([this, &use, host, limit] {
      use.task.emplace(run(use, host, limit));
      use.task->start(nullptr, nullptr);
    });
    settle();
    return use;
  }
  void end(Use& use) {
    use.end.set();
    settle();
  }
  /// Begins three requests, and returns how many connections are made before any is finished.
  std::size_t begin_three() {
    gate_.emplace();
    for (int i = 0; i < 3; ++i) begin("a");
    const std::size_t making = pool_->size();
    gate_->set();
    settle();
    return making;
  }
  void forget_all() {
    for (const auto& use : uses_) use->end.set();
    settle();
    advance(51s);
    EXPECT_EQ(pool_->size(), 0U);
  }
  void drop(Use& use) {
    loop_->post([&use] { use.task.reset(); });
    settle();
  }
  void advance(Duration by) {
    clock_.advance(by);
    settle();
  }

  Task<> run(Use& use, std::string host, Duration limit) {
    const Pool::Connect connect = [this, host] { return connected(host); };
    auto lease = co_await pool_->acquire(host, host, limit, connect, sharing_);
    if (!lease) {
      use.name = lease.error().text;
      co_return;
    }
    auto& connection = static_cast<FakeConnection&>(lease->connection());
    use.name = connection.name();
    use.is_reused = lease->is_reused();
    co_await use.end.wait();
    connection.is_dead = dies_;
  }
  Task<Result<std::unique_ptr<PooledConnection>, Problem>> connected(std::string host) {
    if (gate_) co_await gate_->wait();
    if (fails_ || host == failing_host_) co_return Problem{failure_, "refused"};
    std::unique_ptr<PooledConnection> made =
        std::make_unique<FakeConnection>(*pool_, host + std::to_string(++made_), streams_, asked_);
    co_return std::move(made);
  }

  loop::ManualClock clock_;
  RecordingMeter meter_;
  std::unique_ptr<loop::Loop> loop_;
  std::unique_ptr<Pool> pool_;
  std::vector<std::unique_ptr<Use>> uses_;
  std::optional<Event> gate_;
  std::size_t streams_ = 1;
  Pool::Sharing sharing_ = Pool::Sharing::None;
  int made_ = 0;
  std::size_t asked_ = 0;
  bool fails_ = false;
  std::string failing_host_{};
  Errc failure_ = Errc::Refused;
  bool dies_ = false;
};

}  // namespace skua::client
