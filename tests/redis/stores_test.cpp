// SPDX-License-Identifier: MIT
// State that servers share, in a Redis whose replies are written here; the scripts run in
// tests/interop/redis_test.py.
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "crypto/digest.hpp"
#include "redis/fake_redis.hpp"
#include "router/tree.hpp"
#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/redis_stores.hpp"
#include "skua/router.hpp"
#include "skua/shared_digest.hpp"
#include "skua/testing.hpp"

namespace skua::redis {
namespace {

using Words = FakeRedis::Words;
using Peer = FakeRedis::Peer;

TEST(RedisSharedRates, AskAScript) {
  const std::unique_ptr<Loop> loop = Loop::create().value();
  std::string reply = "*3\r\n:1\r\n:4\r\n:200000\r\n";
  FakeRedis server([&](const Words&, Peer&) { return reply; });
  SharedRates rates(PerThread(server.url()), {.prefix = "shop:"});
  const Rate rate{.interval = 200ms, .burst = 5};
  const auto allowed = loop->run(rates.count("ada", rate));
  ASSERT_TRUE(allowed) << allowed.error().text;
  EXPECT_TRUE(allowed->is_allowed);
  EXPECT_EQ(allowed->remaining, 4U);
  EXPECT_EQ(allowed->wait, 200ms);
  const Words& words = server.heard().front();
  ASSERT_EQ(words.size(), 6U);
  EXPECT_EQ(words[0], "EVALSHA");
  EXPECT_EQ(Words(words.begin() + 2, words.end()),
            (Words{"1", "shop:rate:ada", "200000", "1000000"}));
  reply = "*3\r\n:0\r\n:0\r\n:7\r\n";
  EXPECT_FALSE(loop->run(rates.count("ada", rate))->is_allowed);
  for (const char* const malformed : {"+OK\r\n", "*0\r\n", "*3\r\n:2\r\n:0\r\n:0\r\n",
                                      "*3\r\n:1\r\n:-1\r\n:0\r\n", "*3\r\n:1\r\n:1\r\n:-1\r\n"}) {
    reply = malformed;
    EXPECT_EQ(loop->run(rates.count("ada", rate)).error().code(), Errc::MalformedReply);
  }
}

TEST(RedisSharedRates, LargeNumbersDoNotOverflow) {
  const std::unique_ptr<Loop> loop = Loop::create().value();
  FakeRedis server([](const Words&, Peer&) {
    return std::string("*3\r\n:1\r\n:4\r\n:9223372036854775807\r\n");
  });
  SharedRates rates{PerThread(server.url())};
  const std::string century = "3153600000000000";
  const auto counted = loop->run(
      rates.count("ada", {.interval = 1s, .burst = std::numeric_limits<std::size_t>::max()}));
  EXPECT_EQ(counted->wait, 100 * 365 * 24h);
  EXPECT_EQ(server.heard().back()[4], "1000000");
  EXPECT_EQ(server.heard().back()[5], century);
  EXPECT_TRUE(loop->run(rates.count("ada", {.interval = Duration::max(), .burst = 7})));
  EXPECT_EQ(server.heard().back()[4], century);
  EXPECT_EQ(server.heard().back()[5], century);
  EXPECT_TRUE(loop->run(rates.count("ada", {.interval = 0s, .burst = 7})));
  EXPECT_EQ(server.heard().back()[4], "1");
  EXPECT_EQ(server.heard().back()[5], "7");
}

TEST(RedisSharedRates, HaveATimeout) {
  const std::unique_ptr<Loop> loop = Loop::create().value();
  const PerThread redis("redis://127.0.0.1");
  EXPECT_THROW(SharedRates(redis, {.timeout = 0s}), std::invalid_argument);
  EXPECT_THROW(SharedTexts(redis, {.timeout = -1s}), std::invalid_argument);
}

TEST(RedisSharedRates, GiveUpSoon) {
  const std::unique_ptr<Loop> loop = Loop::create().value();
  FakeRedis server([](const Words&, Peer&) { return std::string(); });
  SharedRates rates(PerThread(server.url()), {.timeout = 20ms});
  const auto counted = loop->run(rates.count("ada", {.interval = 1s, .burst = 1}));
  EXPECT_EQ(counted.error().code(), Errc::TimedOut);
}

TEST(RedisSharedTexts, AreOneStepEach) {
  const std::unique_ptr<Loop> loop = Loop::create().value();
  std::string reply = "_\r\n";
  FakeRedis server([&](const Words&, Peer&) { return reply; });
  SharedTexts texts(PerThread(server.url()), {.prefix = "shop:"});
  const auto added = loop->run(texts.add("k", "mine", 1500us));
  ASSERT_TRUE(added) << added.error().text;
  EXPECT_EQ(*added, std::nullopt);
  const auto words_of = [&] {
    return Words(server.heard().back().begin() + 2, server.heard().back().end());
  };
  EXPECT_EQ(words_of(), (Words{"1", "shop:k", "mine", "2"}));
  reply = bulk("theirs");
  EXPECT_EQ(loop->run(texts.add("k", "mine", 1s)).value(), "theirs");
  EXPECT_EQ(loop->run(texts.get("k")).value(), "theirs");
  EXPECT_EQ(server.heard().back(), (Words{"GET", "shop:k"}));
  reply = ":1\r\n";
  EXPECT_TRUE(loop->run(texts.replace("k", "old", "", 1s)));
  EXPECT_EQ(words_of(), (Words{"1", "shop:k", "old", "", "1000"}));
  EXPECT_EQ(loop->run(texts.get("k")).error().code(), Errc::MalformedReply);
}

TEST(RedisSharedTexts, KeepTheProofsOfSharedDigest) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  const std::unique_ptr<Loop> loop = Loop::create().value();
  std::string reply = "_\r\n";
  FakeRedis server([&](const Words&, Peer&) { return reply; });
  auth::DigestOptions options{.nonce_age = 30s};
  options.lookup = [](std::string_view) { return auth::DigestSecret{.password = "secret"}; };
  Router router;
  router.use(auth::shared_digest(
      options, std::string(32, 'k'),
      std::make_shared<SharedTexts>(PerThread(server.url()), StoreOptions{.prefix = "shop:"})));
  router.get("/", [](const Request& request) { return auth::user(request)->name; });
  const auto ask = [&](const std::string& authorization) {
    skua::testing::FakeRequest fake("GET /");
    if (!authorization.empty()) fake.header("Authorization", authorization);
    const router::Match match = router.match(Method::Get, "/");
    return loop->run(router.start(match, fake.request()));
  };
  const std::string challenge(ask("").header("WWW-Authenticate").value_or(""));
  DigestSession ada("ada", "secret");
  const std::string_view fields[] = {challenge};
  ada.accept(fields).value();
  EXPECT_EQ(ask(ada.authorize("GET", "/").value()).body(), "ada");
  const Words& words = server.heard().back();
  ASSERT_EQ(words.size(), 6U);
  EXPECT_EQ(words[3].substr(0, 12), "shop:digest:");
  EXPECT_EQ(words[3].substr(words[3].size() - 2), ":1") << "the count of the nonce";
  EXPECT_EQ(words[5], "60000") << "twice the age of a nonce";
  reply = bulk("1");
  EXPECT_EQ(ask(ada.authorize("GET", "/").value()).status(), Status::Unauthorized);
}

TEST(RedisSharedTexts, AreReplacedAlsoIfTheTaskIsDropped) {
  const std::unique_ptr<Loop> loop = Loop::create().value();
  FakeRedis server([](const Words& words, Peer&) {
    return words[0] == "EVALSHA" ? std::string("-NOSCRIPT No matching script\r\n") : ":1\r\n";
  });
  auto texts = std::make_optional<SharedTexts>(PerThread(server.url()));
  auto dropped = std::make_optional(texts->replace("k", "old", "new", 1s));
  loop->post([&] { dropped->start(nullptr, nullptr); });
  loop->poll();
  dropped.reset();
  texts.reset();
  for (int turns = 0; server.heard().size() < 2; ++turns) {
    ASSERT_LT(turns, 10'000);
    loop->poll(10ms);
  }
  EXPECT_EQ(server.heard()[1][0], "EVAL");
}

}  // namespace
}  // namespace skua::redis
