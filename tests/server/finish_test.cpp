// SPDX-License-Identifier: MIT
// Tasks that outlive the handlers which await them: the client leaves, the server drains.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;
using testing::TestWorker;

struct Bank {
  std::atomic<int> charges{0};
  std::atomic<int> bookings{0};
};

Task<int> pay(Bank& bank, Duration time) {
  ++bank.charges;
  co_await sleep(time);
  co_return ++bank.bookings;
}

Task<> fail(Duration time) {
  co_await sleep(time);
  throw std::runtime_error("the ledger is full");
}

class Finishes : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Finishes() {
    router_.get("/pay", [this]() -> Task<std::string> {
      auto paying = finish(pay(bank_, 10s));
      const int booked = co_await paying;
      co_return "booked " + std::to_string(booked);
    });
    router_.get("/fail", []() -> Task<std::string> {
      auto failing = finish(fail(10s));
      co_await failing;
      co_return "never";
    });
    options_.hooks.log = [this](LogLevel, std::string_view line) { log_.emplace_back(line); };
    options_.timeouts.half_closed = Duration::zero();
  }

  /// Begins a request, whose handler is dropped.
  void leave(TestWorker& worker, std::string_view path) {
    Client client = worker.connect();
    client.send(get(path));
    worker.settle();
    client.reset();
    worker.turn_until_closed();
  }

  Bank bank_;
  std::vector<std::string> log_;
  Router router_;
  ServerOptions options_;
};

TEST_P(Finishes, ForAClientThatWaits) {
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/pay"));
  worker.settle();
  worker.advance(11s);
  worker.turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "booked 1");
}

TEST_P(Finishes, ThoughTheClientHasLeft) {
  TestWorker worker(router_, GetParam(), options_);
  leave(worker, "/pay");
  EXPECT_EQ(worker.counters().handlers_cancelled, 1U);
  EXPECT_EQ(bank_.charges, 1);
  EXPECT_EQ(bank_.bookings, 0);
  worker.advance(11s);
  EXPECT_EQ(bank_.bookings, 1);
  EXPECT_TRUE(log_.empty());
}

TEST_P(Finishes, TellsTheLogOfAFailureThatNoClientSees) {
  TestWorker worker(router_, GetParam(), options_);
  leave(worker, "/fail");
  EXPECT_TRUE(log_.empty());
  worker.advance(11s);
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_EQ(log_[0], "a task that nobody awaits any more failed: the ledger is full");
}

TEST_P(Finishes, BeforeADrainEnds) {
  TestWorker worker(router_, GetParam(), options_);
  leave(worker, "/pay");
  (*worker).begin_drain(60s);
  worker.settle();
  worker.advance(5s);
  EXPECT_FALSE((*worker).is_done());
  worker.advance(6s);
  EXPECT_TRUE((*worker).is_done());
  EXPECT_EQ(bank_.bookings, 1);
}

TEST_P(Finishes, IsDroppedAtTheDeadlineOfADrain) {
  {
    TestWorker worker(router_, GetParam(), options_);
    leave(worker, "/pay");
    (*worker).begin_drain(5s);
    worker.settle();
    worker.advance(4s);
    EXPECT_FALSE((*worker).is_done());
    worker.advance(2s);
    EXPECT_TRUE((*worker).is_done());
  }
  EXPECT_EQ(bank_.bookings, 0);
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_EQ(log_[0], "time was up for tasks of skua::finish() that had not ended: 1");
}

TEST_P(Finishes, IsDroppedByACancelDuringADrain) {
  TestWorker worker(router_, GetParam(), options_);
  leave(worker, "/pay");
  (*worker).begin_drain(60s);
  worker.settle();
  EXPECT_FALSE((*worker).is_done());
  (*worker).begin_drain(Duration::zero());
  worker.settle();
  EXPECT_TRUE((*worker).is_done());
}

TEST_P(Finishes, BeforeShutdownReturns) {
  std::atomic<bool> is_paid{false};
  const auto pay_slowly = [](Bank& bank, const std::atomic<bool>& is_due) -> Task<int> {
    ++bank.charges;
    while (!is_due) co_await sleep(1ms);
    co_return ++bank.bookings;
  };
  Router router;
  router.get("/pay", [&]() -> Task<std::string> {
    auto paying = finish(pay_slowly(bank_, is_paid));
    const int booked = co_await paying;
    co_return std::to_string(booked);
  });
  TestServer server(router, GetParam());
  {
    Client client = server.connect();
    client.send(get("/pay"));
    testing::wait_until([this] { return bank_.charges == 1; });
    client.reset();
  }
  testing::wait_until([&] { return server->counters().handlers_cancelled == 1; });
  std::thread bank([&] {
    testing::wait_until([&] { return !server->is_ready(); });
    is_paid = true;
  });
  server->shutdown(20s);
  EXPECT_EQ(bank_.bookings, 1);
  bank.join();
}

INSTANTIATE_TEST_SUITE_P(Backends, Finishes, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
