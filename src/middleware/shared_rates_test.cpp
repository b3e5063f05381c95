// SPDX-License-Identifier: MIT
#include "skua/shared_rates.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "router/table.hpp"
#include "skua/async.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::call;
using testing::FakeRequest;

/// A store that answers what the test says; nothing: it has failed.
class ScriptedRates final : public SharedRates {
 public:
  Task<Result<RateDecision, Problem>> count(std::string key, Rate rate) override {
    keys.push_back(key);
    rates.push_back(rate);
    while (is_silent) co_await yield();
    if (!answer) co_return Problem::from(Errc::TimedOut);
    co_return *answer;
  }

  std::optional<RateDecision> answer{};
  bool is_silent = false;
  std::vector<std::string> keys{};
  std::vector<Rate> rates{};
};

class SharedRateLimits : public ::testing::Test {
 protected:
  void use(RateLimitOptions options) {
    options.key = [this](const Request&) { return key; };
    router.use(shared_rate_limit(options, store));
    router.get("/", [] { return "x"; });
  }

  std::string key = "ada";
  std::shared_ptr<ScriptedRates> store = std::make_shared<ScriptedRates>();
  Router router;
};

TEST_F(SharedRateLimits, TheStoreDecides) {
  use({.requests = 2, .per = 10s, .policy = "api"});
  store->answer = {.remaining = 1, .wait = 5s};
  const Response allowed = call(router, "GET /");
  EXPECT_EQ(allowed.status(), Status::Ok);
  EXPECT_EQ(allowed.header("RateLimit"), "\"api\";r=1;t=5");
  EXPECT_EQ(allowed.header("RateLimit-Policy"), "\"api\";q=2;w=10");
  store->answer = {.is_allowed = false, .wait = 3s};
  const Response refused = call(router, "GET /");
  EXPECT_EQ(refused.status(), Status::TooManyRequests);
  EXPECT_EQ(refused.header("Retry-After"), "3");
  EXPECT_EQ(refused.header("RateLimit"), "\"api\";r=0;t=3");
  EXPECT_EQ(store->keys, (std::vector<std::string>{"api:ada", "api:ada"}));
  EXPECT_EQ(store->rates[0].interval, 5s);
  EXPECT_EQ(store->rates[0].burst, 2U);
}

TEST_F(SharedRateLimits, EachServerCountsByItselfIfTheStoreHasFailed) {
  use({.requests = 2, .per = 1h});
  EXPECT_EQ(call(router, "GET /").status(), Status::Ok);
  EXPECT_EQ(call(router, "GET /").status(), Status::Ok);
  EXPECT_EQ(call(router, "GET /").status(), Status::TooManyRequests);
  EXPECT_EQ(store->keys.size(), 1U) << "a store that has failed is left alone for a while";
}

Task<> ask_until_probed(const Router& router, ScriptedRates& store) {
  store.is_silent = true;
  const router::Match match = router.match(Method::Get, "/");
  std::vector<std::unique_ptr<FakeRequest>> requests;
  std::vector<Task<Response>> tasks;  // end before these
  const auto ask = [&] {
    requests.push_back(std::make_unique<FakeRequest>("GET /"));
    Request& request = requests.back()->request();
    tasks.push_back(router.start(match, request));
    tasks.back().start(nullptr, nullptr);
  };
  while (store.keys.size() < 2) {  // a second
    tasks.clear();
    requests.clear();
    ask();
    co_await sleep(5ms);
  }
  EXPECT_FALSE(tasks.back().is_done());
  ask();
  EXPECT_TRUE(tasks.back().is_done()) << "the store has not answered the first one yet";
  EXPECT_EQ(store.keys.size(), 2U);
  store.is_silent = false;
  store.answer = RateDecision{};
  while (!tasks.front().is_done()) co_await yield();
  ask();
  ask();
  EXPECT_EQ(store.keys.size(), 4U) << "it has returned";
}

TEST_F(SharedRateLimits, OneRequestFindsOutWhetherAFailedStoreIsBack) {
  use({.requests = 1'000'000, .per = 1h});
  EXPECT_EQ(call(router, "GET /").status(), Status::Ok);
  run(ask_until_probed(router, *store));
}

TEST_F(SharedRateLimits, AnEmptyKeyHasNoLimit) {
  use({.requests = 1, .per = 1h});
  key = "";
  store->answer = {.is_allowed = false, .wait = 3s};
  EXPECT_EQ(call(router, "GET /").status(), Status::Ok);
  EXPECT_TRUE(store->keys.empty());
}

TEST_F(SharedRateLimits, MalformedOptionsAreRefused) {
  EXPECT_THROW(use({.requests = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace skua
