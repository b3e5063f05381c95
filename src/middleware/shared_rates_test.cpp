// SPDX-License-Identifier: MIT
#include "skua/shared_rates.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::call;

/// A store that answers what the test says; nothing: it has failed.
class ScriptedRates final : public SharedRates {
 public:
  Task<Result<RateDecision, Problem>> count(std::string key, Rate rate) override {
    keys.push_back(key);
    rates.push_back(rate);
    if (!answer) co_return Problem::from(Errc::TimedOut);
    co_return *answer;
  }

  std::optional<RateDecision> answer{};
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
