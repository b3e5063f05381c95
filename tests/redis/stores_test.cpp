// SPDX-License-Identifier: MIT
// State that servers share, in a Redis whose replies are written here; the scripts run in
// tests/interop/redis_test.py.
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "redis/fake_redis.hpp"
#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/redis_stores.hpp"

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

}  // namespace
}  // namespace skua::redis
