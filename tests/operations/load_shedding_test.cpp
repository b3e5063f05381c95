// SPDX-License-Identifier: MIT
// A server that cannot keep up refuses some requests, and answers the others in time.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;

class LoadSheddingOfServer : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    router_.use(shedding_);
    router_.get("/", [this] {
      worker_->pass(10ms);
      ++handled_;
      return "done";
    });
    worker_.emplace(router_, GetParam());
    for (int i = 0; i < 40; ++i) clients_.push_back(worker_->connect());
    for (Client& client : clients_) idle_.push_back(&client);
  }
  // Lets a client ask that waits for no answer.
  void ask() {
    if (idle_.empty()) return;
    Client* const client = idle_.back();
    idle_.pop_back();
    client->send(get("/"));
    asking_.push_back(client);
  }
  // Takes the answers that have come. Returns how many were refusals.
  int take_answers() {
    int refused = 0;
    const std::vector<Client*> asked = std::exchange(asking_, {});
    for (Client* const client : asked) {
      if (!client->is_readable()) {
        asking_.push_back(client);
        continue;
      }
      const auto answer = client->answer();
      idle_.push_back(client);
      if (answer->status == 200) {
        ++served_;
        continue;
      }
      EXPECT_EQ(answer->status, 503);
      EXPECT_EQ(answer->field("Retry-After"), "7");
      ++refused;
    }
    return refused;
  }
  // Runs the worker until some requests were refused: in the time that one takes, two arrive.
  // Returns their number.
  int overload() {
    int refused = 0;
    ask();
    for (int turns = 0; turns < 1000 && refused < 100; ++turns) {
      const int before = handled_;
      (**worker_).run_once(0ms);
      refused += take_answers();
      for (int i = 0; asking_.empty() || i < 2 * (handled_ - before); ++i) ask();
    }
    return refused;
  }

  LoadShedding shedding_ = load_shedding({.target = 20ms, .interval = 100ms, .retry_after = 7s});
  Router router_;
  std::optional<TestWorker> worker_;
  std::vector<Client> clients_;
  std::vector<Client*> idle_;
  std::vector<Client*> asking_;
  int handled_ = 0;
  int served_ = 0;
};

TEST_P(LoadSheddingOfServer, RefusesWhatItCannotServeInTime) {
  const int refused = overload();
  EXPECT_GE(refused, 100);
  EXPECT_GE(served_, refused / 10);
  EXPECT_EQ(shedding_.count(), static_cast<std::uint64_t>(refused));
}

TEST_P(LoadSheddingOfServer, ServesAllOnceItKeepsUp) {
  EXPECT_GT(overload(), 0);
  while (!asking_.empty()) {
    worker_->settle();
    take_answers();
  }
  worker_->advance(1s);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(worker_->ask(clients_[0], get("/"))->status, 200);
    worker_->advance(5ms);
  }
}

TEST_P(LoadSheddingOfServer, ABurstIsServed) {
  for (int i = 0; i < 10; ++i) ask();
  while (!asking_.empty()) {
    worker_->settle();
    EXPECT_EQ(take_answers(), 0);
  }
  EXPECT_EQ(served_, 10);
}

TEST(LoadShedding, WantsPositiveDurations) {
  EXPECT_THROW((void)load_shedding({.target = 0s}), std::invalid_argument);
  EXPECT_THROW((void)load_shedding({.interval = -1s}), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Backends, LoadSheddingOfServer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
