// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "http/message/request_parts.hpp"
#include "middleware/rate_limit.hpp"
#include "skua/middleware.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using middleware::RateTable;
using testing::FakeRequest;

class RateTableTest : public ::testing::Test {
 protected:
  loop::ManualClock clock_;
  RateTable table_{{.interval = 100ms, .burst = 5, .max_keys = 1000}, clock_};

  int allowed(std::string_view key, int requests) {
    int count = 0;
    for (int i = 0; i < requests; ++i) count += table_.ask(key).is_allowed ? 1 : 0;
    return count;
  }
};

TEST_F(RateTableTest, AllowsABurstAndThenOneAnInterval) {
  EXPECT_EQ(allowed("a", 20), 5);
  clock_.advance(99ms);
  EXPECT_EQ(allowed("a", 20), 0);
  clock_.advance(1ms);
  EXPECT_EQ(allowed("a", 20), 1);
  clock_.advance(300ms);
  EXPECT_EQ(allowed("a", 20), 3);
  clock_.advance(1h);
  EXPECT_EQ(allowed("a", 20), 5) << "what was not used is not saved up";
}

TEST_F(RateTableTest, KeysDoNotMeet) {
  EXPECT_EQ(allowed("a", 20), 5);
  EXPECT_EQ(allowed("b", 20), 5);
  EXPECT_EQ(allowed("", 20), 5);
}

TEST_F(RateTableTest, TellsWhatIsLeft) {
  RateDecision verdict = table_.ask("a");
  EXPECT_EQ(verdict.remaining, 4U);
  EXPECT_EQ(verdict.wait, 100ms);
  allowed("a", 4);
  clock_.advance(30ms);
  verdict = table_.ask("a");
  EXPECT_FALSE(verdict.is_allowed);
  EXPECT_EQ(verdict.remaining, 0U);
  EXPECT_EQ(verdict.wait, 70ms);
  clock_.advance(verdict.wait);
  EXPECT_TRUE(table_.ask("a").is_allowed);
}

TEST_F(RateTableTest, ARefusedRequestCostsNothing) {
  allowed("a", 1000);
  clock_.advance(100ms);
  EXPECT_EQ(allowed("a", 1), 1);
}

// A client with many addresses can evict others, but not a client over its limit: in a full set,
// that one is evicted last.
TEST_F(RateTableTest, AMillionKeysTakeNoMoreMemory) {
  const std::size_t size_bytes = table_.size_bytes();
  EXPECT_EQ(allowed("greedy", 20), 5);
  for (int i = 0; i < 1'000'000; ++i) {
    ASSERT_TRUE(table_.ask("key " + std::to_string(i)).is_allowed);
  }
  EXPECT_EQ(table_.size_bytes(), size_bytes);
  EXPECT_LE(size_bytes, 1024U * 16U);
  EXPECT_EQ(allowed("greedy", 20), 0);
}

TEST_F(RateTableTest, AKeyIsRememberedUntilThereAreTooMany) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(allowed("key " + std::to_string(i), 5), 5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(allowed("key " + std::to_string(i), 5), 0) << i;
}

TEST_F(RateTableTest, ThreadsCountTogether) {
  std::atomic<int> count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, &count] {
      for (int i = 0; i < 1000; ++i) {
        count += table_.ask("shared").is_allowed ? 1 : 0;
        table_.ask(std::to_string(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 5);
}

TEST(ClientKey, IsTheAddressWithoutThePort) {
  using middleware::client_key;
  EXPECT_EQ(client_key("192.0.2.1:50123"), "192.0.2.1");
  EXPECT_EQ(client_key("[2001:db8:1:2:3:4:5:6]:443"), "2001:db8:1:2::/64");
  EXPECT_EQ(client_key("[2001:db8:1:2::1]:443"), "2001:db8:1:2::/64");
  EXPECT_EQ(client_key("[2001:db8:1:3::1]:443"), "2001:db8:1:3::/64");
  EXPECT_EQ(client_key("[2001:db8::1]:1"), "2001:db8:0:0::/64");
  EXPECT_EQ(client_key("[::1]:1"), "0:0:0:0::/64");
  EXPECT_EQ(client_key("[1::2:3:4:5:6:7]:1"), "1:0:2:3::/64");
  EXPECT_EQ(client_key("[fe80::1%eth0]:1"), "fe80:0:0:0::/64");
  EXPECT_EQ(client_key("[::ffff:192.0.2.1]:1"), "192.0.2.1");
  EXPECT_EQ(client_key("unix:/run/a:b"), "unix:/run/a:b");
  EXPECT_EQ(client_key(""), "");
  for (const std::string_view odd : {"[", "[]", "[::", "[1:2:3:4:5:6:7:8:9]:1", "[x::]:1",
                                     "[1::2::3]", "[1:2]:3", "[12345::]:1", "["}) {
    (void)client_key(odd);
  }
  EXPECT_EQ(client_key("[nonsense]:1"), "nonsense");
}

class RateLimitTest : public ::testing::Test {
 protected:
  loop::ManualClock clock_;
  Router router_;

  void use(RateLimitOptions options) {
    auto table = std::make_shared<RateTable>(middleware::rate_settings(options), clock_);
    router_.use(RateLimit(std::move(options), std::move(table)));
    router_.get("/", [] { return "x"; });
  }
  Response ask(std::string_view from = "192.0.2.1:1", std::string_view key = "") {
    const Address peer = Address::parse(from).value();
    FakeRequest fake("GET /");
    if (!key.empty()) fake.header("X-Key", key);
    http::RequestParts parts = http::RequestAccess::parts(fake.request());
    parts.peer = [](const void* address) { return *static_cast<const Address*>(address); };
    parts.peer_context = &peer;
    Request request(parts);
    return router_.handle(request);
  }
};

TEST_F(RateLimitTest, AnswersTooManyRequests) {
  use({.requests = 2, .per = 10s});
  const Response first = ask();
  EXPECT_EQ(first.status(), Status::Ok);
  EXPECT_EQ(first.lines().wire(),
            "RateLimit-Policy: \"default\";q=2;w=10\r\nRateLimit: \"default\";r=1;t=5\r\n");
  ask();
  const Response third = ask();
  EXPECT_EQ(third.status(), Status::TooManyRequests);
  EXPECT_EQ(third.header("Retry-After"), "5");
  EXPECT_EQ(third.header("RateLimit"), "\"default\";r=0;t=5");
  EXPECT_EQ(ask("192.0.2.2:1").status(), Status::Ok);
  EXPECT_EQ(ask("192.0.2.1:2").status(), Status::TooManyRequests) << "the port does not matter";
  clock_.advance(5s);
  EXPECT_EQ(ask().status(), Status::Ok);
}

TEST_F(RateLimitTest, WhoWaitsAsLongAsItWasToldIsAnswered) {
  use({.requests = 7, .per = 10s, .burst = 1});
  ask();
  clock_.advance(1ms);
  EXPECT_EQ(ask().header("Retry-After"), "2") << "10/7 s, rounded up";
  clock_.advance(2s);
  EXPECT_EQ(ask().status(), Status::Ok);
}

TEST_F(RateLimitTest, CountsWhateverTheKeySays) {
  use({.requests = 1, .key = [](const Request& request) {
         return std::string(request.header("X-Key").value_or(""));
       }});
  EXPECT_EQ(ask("192.0.2.1:1", "a").status(), Status::Ok);
  EXPECT_EQ(ask("192.0.2.2:1", "a").status(), Status::TooManyRequests);
  EXPECT_EQ(ask("192.0.2.1:1", "b").status(), Status::Ok);
  EXPECT_EQ(ask().status(), Status::Ok);
  EXPECT_EQ(ask().status(), Status::Ok) << "an empty key is not limited";
  EXPECT_EQ(ask().header("RateLimit"), std::nullopt);
}

TEST_F(RateLimitTest, NeedNotSayWhatIsLeft) {
  use({.requests = 1, .policy = ""});
  EXPECT_EQ(ask().lines().wire(), "");
  EXPECT_EQ(ask().lines().wire(), "Retry-After: 60\r\n");
}

TEST_F(RateLimitTest, OneInsideOfAnotherCountsByItself) {
  use({.requests = 5, .policy = "outer"});
  Router inner;
  inner.use(rate_limit({.requests = 1, .per = 1h, .policy = "inner"}));
  inner.get("/x", [] { return "x"; });
  router_.mount("/in", std::move(inner));
  const auto in = [this](std::string_view from) {
    const Address peer = Address::parse(from).value();
    FakeRequest fake("GET /in/x");
    http::RequestParts parts = http::RequestAccess::parts(fake.request());
    parts.peer = [](const void* address) { return *static_cast<const Address*>(address); };
    parts.peer_context = &peer;
    Request request(parts);
    return router_.handle(request);
  };
  EXPECT_EQ(in("192.0.2.1:1").header("RateLimit-Policy"), "\"inner\";q=1;w=3600");
  EXPECT_EQ(in("192.0.2.1:1").status(), Status::TooManyRequests);
  EXPECT_EQ(ask().header("RateLimit"), "\"outer\";r=2;t=36");
}

TEST(RateLimitOptions, RefusesWhatCannotBeMeant) {
  EXPECT_THROW((void)rate_limit({.requests = 0}), std::invalid_argument);
  EXPECT_THROW((void)rate_limit({.per = 0s}), std::invalid_argument);
  EXPECT_THROW((void)rate_limit({.max_keys = 0}), std::invalid_argument);
  EXPECT_THROW((void)rate_limit({.max_keys = std::size_t{1} << 40U}), std::invalid_argument);
  EXPECT_THROW((void)rate_limit({.requests = 1, .per = 1000h, .burst = 1'000'000}),
               std::invalid_argument);
  EXPECT_THROW((void)rate_limit({.policy = "a\"b"}), std::invalid_argument);
  EXPECT_THROW((void)rate_limit({.policy = "a\nb"}), std::invalid_argument);
  EXPECT_NO_THROW((void)rate_limit({.requests = 1'000'000'000'000, .per = 1s}));
}

}  // namespace
}  // namespace skua
