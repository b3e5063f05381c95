// SPDX-License-Identifier: MIT
// A server that cannot keep up refuses some requests, and answers the others in time.
#include <gtest/gtest.h>

#include <stdexcept>
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
      return "done";
    });
    worker_.emplace(router_, GetParam());
    for (int i = 0; i < 10; ++i) clients_.push_back(worker_->connect());
  }
  // All clients ask at once. Returns how many were refused.
  int ask_all() {
    for (Client& client : clients_) client.send(get("/"));
    int refused = 0;
    for (Client& client : clients_) {
      worker_->turn_until_readable(client);
      const auto answer = client.answer();
      if (answer->status == 200) continue;
      EXPECT_EQ(answer->status, 503);
      EXPECT_EQ(answer->field("Retry-After"), "7");
      ++refused;
    }
    return refused;
  }

  LoadShedding shedding_ = load_shedding({.target = 20ms, .interval = 100ms, .retry_after = 7s});
  Router router_;
  std::optional<TestWorker> worker_;
  std::vector<Client> clients_;
};

TEST_P(LoadSheddingOfServer, RefusesWhatItCannotServeInTime) {
  int refused = 0;
  int asked = 0;
  for (; asked < 1000 && refused < 100; asked += 10) refused += ask_all();
  EXPECT_GE(refused, 100);
  EXPECT_LE(refused, asked * 9 / 10);
  EXPECT_EQ(shedding_.count(), static_cast<std::uint64_t>(refused));
}

TEST_P(LoadSheddingOfServer, ServesAllOnceItKeepsUp) {
  for (int i = 0; i < 10; ++i) static_cast<void>(ask_all());
  EXPECT_GT(shedding_.count(), 0U);
  worker_->advance(1s);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(worker_->ask(clients_[0], get("/"))->status, 200);
    worker_->advance(5ms);
  }
}

TEST_P(LoadSheddingOfServer, ABurstIsServed) { EXPECT_EQ(ask_all(), 0); }

TEST(LoadShedding, WantsPositiveDurations) {
  EXPECT_THROW((void)load_shedding({.target = 0s}), std::invalid_argument);
  EXPECT_THROW((void)load_shedding({.interval = -1s}), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Backends, LoadSheddingOfServer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
