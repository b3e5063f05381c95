// SPDX-License-Identifier: MIT
// Probes of a program whose check stalls: they are answered, cost no thread of offload(), and hold
// up no end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;

struct Store {
  std::atomic<bool> answers{false};
  std::atomic<int> running{0};
};

class HealthProbes : public ::testing::TestWithParam<BackendChoice> {
 protected:
  HealthProbes() {
    health_->check(
        "store",
        [store = store_]() -> Result<void, Problem> {
          ++store->running;
          store->answers.wait(false);
          --store->running;
          return {};
        },
        std::chrono::milliseconds(50));
    router_.mount("/admin", admin_routes({.health = health_}));
    router_.get("/work", []() -> Task<std::string> {
      const int answer = co_await offload([] { return 42; });
      co_return std::to_string(answer);
    });
    options_.offload_threads = 1;
    options_.timeouts.shutdown = std::chrono::seconds(60);
  }
  ~HealthProbes() override {
    store_->answers = true;
    store_->answers.notify_all();
    testing::wait_until([this] { return store_->running == 0; });
  }

  const std::shared_ptr<Store> store_ = std::make_shared<Store>();
  std::shared_ptr<Health> health_ = std::make_shared<Health>();
  Router router_;
  ServerOptions options_;
};

TEST_P(HealthProbes, AreAnsweredThoughACheckStalls) {
  TestServer server(router_, GetParam(), options_);
  std::vector<Client> probes;
  for (int i = 0; i < 8; ++i) probes.push_back(server.connect());
  for (Client& probe : probes) probe.send(get("/admin/readyz"));
  Client user = server.connect();
  user.send(get("/work"));
  EXPECT_EQ(user.answer()->body, "42") << "no thread of offload() is taken";
  for (Client& probe : probes) {
    const auto told = probe.answer();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->status, 503);
    EXPECT_EQ(told->body, "[-] store: no result within 50 ms\nnot ready\n");
  }
  testing::wait_until([this] { return store_->running == 1; });
}

TEST_P(HealthProbes, DoNotKeepAServerFromEnding) {
  {
    TestServer server(router_, GetParam(), options_);
    {
      Client probe = server.connect();
      probe.send(get("/admin/"));
      testing::wait_until([this] { return store_->running == 1; });
      server->begin_shutdown();
      const auto page = probe.answer();
      ASSERT_TRUE(page);
      EXPECT_NE(page->body.find("no result within 50 ms"), std::string::npos);
    }
    server->wait();
  }
  router_ = Router();
  health_.reset();
  EXPECT_EQ(store_->running, 1) << "the check still runs";
}

INSTANTIATE_TEST_SUITE_P(Backends, HealthProbes, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
