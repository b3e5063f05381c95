// SPDX-License-Identifier: MIT
// Subscriptions: messages, gaps, and what happens to those that come too fast.
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "redis/fake_redis.hpp"
#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/redis.hpp"

namespace skua::redis {
namespace {

using Words = FakeRedis::Words;
using Peer = FakeRedis::Peer;
using Kind = Message::Kind;

// Confirms all that a client subscribes to.
std::string confirm(const Words& words, Peer&) {
  std::string name = words[0];
  if (name == "PING") return "+PONG\r\n";
  for (char& c : name) c = static_cast<char>(c | 0x20);
  std::string reply;
  for (std::size_t i = 1; i < words.size(); ++i) {
    reply += ">3\r\n" + bulk(name) + bulk(words[i]) + ":1\r\n";
  }
  return reply;
}

std::string message(std::string_view channel, std::string_view payload) {
  return ">3\r\n" + bulk("message") + bulk(channel) + bulk(payload);
}

class RedisSubscription : public ::testing::Test {
 protected:
  /// Starts a task in a turn of the loop.
  template <class T>
  void start(Task<T>& task) {
    loop->post([&task] { task.start(nullptr, nullptr); });
    loop->poll();
  }
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }
  template <class Condition>
  void until(Condition condition) {
    for (int turns = 0; !condition(); ++turns) {
      ASSERT_LT(turns, 10'000);
      loop->poll(10ms);
    }
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
};

TEST_F(RedisSubscription, BringsMessagesOfChannelsAndPatterns) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("news").pattern("n*")));
  ASSERT_TRUE(news) << news.error().text;
  server.push(message("news", "first"));
  server.push(">4\r\n" + bulk("pmessage") + bulk("n*") + bulk("nine") + bulk("second"));
  const auto first = run(news->next());
  EXPECT_EQ(first->channel, "news");
  EXPECT_EQ(first->payload, "first");
  EXPECT_EQ(first->pattern, "");
  const auto second = run(news->next());
  EXPECT_EQ(second->channel, "nine");
  EXPECT_EQ(second->pattern, "n*");
  EXPECT_EQ(server.connection_count(), 1U);
}

TEST_F(RedisSubscription, SurvivesItsConnectionWithAGap) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("news")));
  ASSERT_TRUE(news);
  server.push(message("news", "before"));
  EXPECT_EQ(run(news->next())->payload, "before");
  server.go_away(*loop);
  server.come_back();
  const auto gap = run(news->next());
  ASSERT_TRUE(gap) << gap.error().text;
  EXPECT_EQ(gap->kind, Kind::Gap);
  // The gap comes after the server has confirmed: nothing is missed from then on.
  server.push(message("news", "after"));
  EXPECT_EQ(run(news->next())->payload, "after");
}

TEST_F(RedisSubscription, ASilentServerIsLeft) {
  FakeRedis server([](const Words& words, Peer& peer) {
    return words[0] == "PING" && peer.number == 0 ? std::string() : confirm(words, peer);
  });
  Options options = quick(server);
  options.stall = 300ms;
  Client client(options);
  auto news = run(client.subscribe(Channels().channel("news")));
  ASSERT_TRUE(news);
  EXPECT_EQ(run(news->next())->kind, Kind::Gap);
  EXPECT_EQ(server.connection_count(), 2U);
}

TEST_F(RedisSubscription, NewChannelsDoNotPutOffTheEndOfADeadConnection) {
  FakeRedis server([](const Words& words, Peer& peer) {
    return words.back() != "first" && peer.number == 0 ? std::string() : confirm(words, peer);
  });
  Options options = quick(server);
  options.stall = 300ms;
  Client client(options);
  auto news = run(client.subscribe(Channels().channel("first")));
  ASSERT_TRUE(news);
  for (int i = 0; server.connection_count() == 1; ++i) {
    ASSERT_LT(i, 150);
    news->add(Channels().channel(std::to_string(i)));
    run(sleep(20ms));
  }
  EXPECT_EQ(run(news->next())->kind, Kind::Gap);
}

TEST_F(RedisSubscription, ASlowConfirmationOfManyChannelsIsWaitedFor) {
  FakeRedis server([](const Words& words, Peer& peer) {
    return words[0] == "SUBSCRIBE" && words.size() > 2 ? std::string() : confirm(words, peer);
  });
  Options options = quick(server);
  options.stall = 600ms;
  Client client(options);
  auto news = run(client.subscribe(Channels().channel("first")));
  ASSERT_TRUE(news);
  news->add(Channels().channel("a").channel("b").channel("c").channel("d"));
  for (const char* const name : {"a", "b", "c", "d"}) {
    run(sleep(250ms));
    server.push(">3\r\n" + bulk("subscribe") + bulk(name) + ":1\r\n");
  }
  server.push(message("a", "hello"));
  EXPECT_EQ(run(news->next())->payload, "hello") << "without a gap";
  EXPECT_EQ(server.connection_count(), 1U);
}

TEST_F(RedisSubscription, DropsTheOldestMessages) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("news"), {.max_messages = 2}));
  ASSERT_TRUE(news);
  std::string many;
  for (const char* const one : {"1", "2", "3", "4"}) many += message("news", one);
  server.push(many);
  const auto first = run(news->next());
  EXPECT_EQ(first->kind, Kind::Gap);
  EXPECT_EQ(run(news->next())->payload, "3");
  EXPECT_EQ(run(news->next())->payload, "4");
}

TEST_F(RedisSubscription, AMessageThatIsTooLargeIsAGap) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("news"), {.max_bytes = 100}));
  ASSERT_TRUE(news);
  server.push(message("news", std::string(200, 'x')));
  EXPECT_EQ(run(news->next())->kind, Kind::Gap);
  server.push(message("news", "small"));
  EXPECT_EQ(run(news->next())->payload, "small");
}

// names: redis.next
TEST_F(RedisSubscription, OrEndsIfThatIsItsPolicy) {
  FakeRedis server(confirm);
  Client client(quick(server));
  const SubscribeOptions options{.max_messages = 1, .overflow = Overflow::Close};
  auto news = run(client.subscribe(Channels().channel("news"), options));
  ASSERT_TRUE(news);
  server.push(message("news", "1") + message("news", "2"));
  until([&] { return !server.peer(0).is_open; });
  EXPECT_EQ(run(news->next())->payload, "1");
  const Problem end = run(news->next()).error();
  EXPECT_EQ(end.code(), Errc::Overloaded);
  EXPECT_NE(end.text.find("SubscribeOptions::max_messages"), std::string::npos) << end.text;
}

TEST_F(RedisSubscription, ARefusedChannelEndsIt) {
  FakeRedis server([](const Words&, Peer&) {
    return std::string("-NOPERM No permissions to access a channel\r\n");
  });
  Client client(quick(server));
  const auto news = run(client.subscribe(Channels().channel("secret")));
  ASSERT_FALSE(news);
  EXPECT_EQ(error_code(news.error()), "NOPERM");
}

TEST_F(RedisSubscription, SurvivesARefusalThatPasses) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("news")));
  ASSERT_TRUE(news);
  server.go_away(*loop);
  server.hello = "-ERR max number of clients reached\r\n";
  server.come_back();
  auto waits = news->next();
  start(waits);
  until([&] { return server.logins().size() >= 3; });
  EXPECT_FALSE(waits.is_done());
  server.hello = "%0\r\n";
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result()->kind, Kind::Gap);
}

TEST_F(RedisSubscription, EndsIfItsPasswordIsWithdrawn) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("news")));
  ASSERT_TRUE(news);
  server.go_away(*loop);
  server.hello = "-WRONGPASS invalid username-password pair\r\n";
  server.come_back();
  EXPECT_EQ(run(news->next()).error().code(), Errc::ErrorReply);
}

TEST_F(RedisSubscription, ARefusedChannelPassesOnceThatIsSubscribed) {
  bool is_busy = false;
  FakeRedis server([&](const Words& words, Peer& peer) {
    if (words[0] == "SUBSCRIBE" && std::exchange(is_busy, false)) {
      return std::string("-ERR busy\r\n");
    }
    return confirm(words, peer);
  });
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("a")));
  ASSERT_TRUE(news);
  is_busy = true;
  news->add(Channels().channel("b"));
  EXPECT_EQ(run(news->next())->kind, Kind::Gap);
  EXPECT_EQ(server.heard().back(), (Words{"SUBSCRIBE", "a", "b"}));
}

TEST_F(RedisSubscription, ChannelsComeAndGo) {
  FakeRedis server(confirm);
  Client client(quick(server));
  auto news = run(client.subscribe(Channels().channel("a")));
  ASSERT_TRUE(news);
  news->add(Channels().channel("b").channel("a"));
  news->remove(Channels().channel("a"));
  until([&] { return server.heard().size() == 3; });
  EXPECT_EQ(server.heard()[1], (Words{"SUBSCRIBE", "b"}));
  EXPECT_EQ(server.heard()[2], (Words{"UNSUBSCRIBE", "a"}));
  server.go_away(*loop);
  server.come_back();
  EXPECT_EQ(run(news->next())->kind, Kind::Gap);
  EXPECT_EQ(server.heard().back(), (Words{"SUBSCRIBE", "b"}));
}

TEST_F(RedisSubscription, EndsWithItsClientAndItsObject) {
  FakeRedis server(confirm);
  auto client = std::make_unique<Client>(quick(server));
  auto news = run(client->subscribe(Channels().channel("a")));
  auto other = run(client->subscribe(Channels().channel("b")));
  ASSERT_TRUE(news && other);
  {
    const Subscription gone = *std::move(other);
  }
  until([&] { return !server.peer(1).is_open; });
  auto waits = news->next();
  start(waits);
  client.reset();
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result().error().code(), Errc::Closed);
}

TEST_F(RedisSubscription, AServerThatIsAwayIsAProblemAtFirst) {
  FakeRedis server(confirm);
  server.go_away(*loop);
  Options options = quick(server);
  options.connect = 300ms;
  Client client(options);
  const auto news = run(client.subscribe(Channels().channel("a")));
  ASSERT_FALSE(news);
  EXPECT_NE(news.error().text.find("could not connect"), std::string::npos);
}

}  // namespace
}  // namespace skua::redis
