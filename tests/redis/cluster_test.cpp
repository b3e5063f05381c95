// SPDX-License-Identifier: MIT
// A client of a cluster of two nodes: slots move, and commands follow them.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "redis/fake_redis.hpp"
#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/redis.hpp"

namespace skua::redis {
namespace {

using Words = FakeRedis::Words;
using Peer = FakeRedis::Peer;

// `bar` is in slot 5061, which `low` serves at first; `foo` in 12182, which `high` serves.
class RedisCluster : public ::testing::Test {
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
  static std::string range(int first, int last, const FakeRedis& master) {
    return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n*3\r\n" +
           bulk("127.0.0.1") + ":" + std::to_string(master.port()) + "\r\n" + bulk("id");
  }
  std::string answer(const Words& words, Peer& peer, FakeRedis& self) {
    if (words[0] == "CLUSTER") {
      ++map_count;
      return "*2\r\n" + range(0, 8191, *low_master) + range(8192, 16383, *high_master);
    }
    if (words[0] == "ASKING") return "+OK\r\n";
    return special ? special(words, peer, self) : served(words, self);
  }
  static std::string served(const Words& words, const FakeRedis& self) {
    return bulk(words.back() + "@" + std::to_string(self.port()));
  }
  Options options() const {
    return {.url = low.url(), .mode = Mode::Cluster, .min_backoff = 1ms, .max_backoff = 5ms};
  }
  std::string get(Client& client, const std::string& key) {
    const auto reply = run(client.command(Command("GET", key).within(2s)));
    return reply ? std::string(reply->text()) : reply.error().text;
  }
  std::string at(const std::string& key, const FakeRedis& server) const {
    return key + "@" + std::to_string(server.port());
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
  std::function<std::string(const Words&, Peer&, FakeRedis&)> special;
  int map_count = 0;
  FakeRedis low{[this](const Words& words, Peer& peer) { return answer(words, peer, low); }};
  FakeRedis high{[this](const Words& words, Peer& peer) { return answer(words, peer, high); }};
  FakeRedis* low_master = &low;
  FakeRedis* high_master = &high;
};

TEST_F(RedisCluster, ACommandGoesToTheNodeOfItsSlot) {
  Client client(options());
  EXPECT_EQ(get(client, "bar"), at("bar", low));
  EXPECT_EQ(get(client, "foo"), at("foo", high));
  EXPECT_EQ(get(client, "{foo}.profile"), at("{foo}.profile", high));
  EXPECT_EQ(map_count, 1);
}

TEST_F(RedisCluster, AMovedSlotIsFollowedAndTheMapReadAgain) {
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", high));
  special = [&](const Words& words, Peer&, FakeRedis& self) -> std::string {
    return &self == &high ? "-MOVED 12182 " + low.place() + "\r\n" : served(words, self);
  };
  high_master = &low;
  EXPECT_EQ(get(client, "foo"), at("foo", low));
  const std::size_t asked = high.heard().size();
  EXPECT_EQ(get(client, "foo"), at("foo", low));
  EXPECT_EQ(high.heard().size(), asked);
}

TEST_F(RedisCluster, AMovedReplyWithoutAHostMeansTheSameHost) {
  special = [&](const Words& words, Peer&, FakeRedis& self) -> std::string {
    return &self == &high ? "-MOVED 12182 :" + std::to_string(low.port()) + "\r\n"
                          : served(words, self);
  };
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", low));
}

TEST_F(RedisCluster, AMovedReplyIsFollowedIfTheServerSeesAnotherSlot) {
  special = [&](const Words& words, Peer&, FakeRedis& self) -> std::string {
    return &self == &high ? "-MOVED 5061 " + low.place() + "\r\n" : served(words, self);
  };
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", low));
  std::vector<Command> commands;
  for (const char* const key : {"foo", "bar"}) commands.emplace_back("GET", key);
  const Replies replies = run(client.pipeline(std::move(commands)));
  ASSERT_TRUE(replies[0]);
  EXPECT_EQ(replies[0]->text(), at("foo", low));
  EXPECT_EQ(replies[1]->text(), at("bar", low));
}

TEST_F(RedisCluster, AskIsForOneCommand) {
  special = [&](const Words& words, Peer& peer, FakeRedis& self) -> std::string {
    if (&self == &high) return "-ASK 12182 " + low.place() + "\r\n";
    const bool has_asked = peer.heard.size() > 1 && peer.heard.end()[-2] == Words{"ASKING"};
    return has_asked ? served(words, self) : "-MOVED 12182 " + high.place() + "\r\n";
  };
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", low));
  EXPECT_EQ(get(client, "foo"), at("foo", low));
  EXPECT_EQ(map_count, 1);  // the slot is still the other node's
}

TEST_F(RedisCluster, TryAgainIsTriedAgain) {
  int left = 3;
  special = [&](const Words& words, Peer&, FakeRedis& self) -> std::string {
    return left-- > 0 ? "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"
                      : served(words, self);
  };
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", high));
}

TEST_F(RedisCluster, ADownClusterIsWaitedFor) {
  int left = 3;
  special = [&](const Words& words, Peer&, FakeRedis& self) -> std::string {
    return left-- > 0 ? "-CLUSTERDOWN The cluster is down\r\n" : served(words, self);
  };
  Client client(options());
  EXPECT_EQ(get(client, "bar"), at("bar", low));
}

TEST_F(RedisCluster, ADownClusterEndsWithItsErrorInTime) {
  special = [](const Words&, Peer&, FakeRedis&) {
    return std::string("-CLUSTERDOWN The cluster is down\r\n");
  };
  Client client(options());
  const auto reply = run(client.command(Command("GET", "bar").within(100ms)));
  ASSERT_FALSE(reply);  // perhaps in the middle of the last attempt
  const bool is_in_flight = reply.error().code() == Errc::TimedOut;
  EXPECT_TRUE(is_in_flight || error_code(reply.error()) == "CLUSTERDOWN") << reply.error().text;
}

TEST_F(RedisCluster, EndlessRedirectionsEndInTime) {
  special = [&](const Words&, Peer&, FakeRedis& self) {
    return "-MOVED 12182 " + (&self == &high ? low : high).place() + "\r\n";
  };
  Client client(options());
  const auto reply = run(client.command(Command("GET", "foo").within(200ms)));
  ASSERT_FALSE(reply);  // perhaps in the middle of the last attempt
  const bool is_in_flight = reply.error().code() == Errc::TimedOut;
  EXPECT_TRUE(is_in_flight || error_code(reply.error()) == "MOVED") << reply.error().text;
  EXPECT_LT(low.heard().size() + high.heard().size(), 100U);
}

TEST_F(RedisCluster, APipelineIsSplitByNode) {
  Client client(options());
  std::vector<Command> commands;
  for (const char* const key : {"foo", "bar", "{foo}1", "{bar}1"})
    commands.emplace_back("GET", key);
  const Replies replies = run(client.pipeline(std::move(commands)));
  ASSERT_EQ(replies.size(), 4U);
  EXPECT_EQ(replies[0]->text(), at("foo", high));
  EXPECT_EQ(replies[1]->text(), at("bar", low));
  EXPECT_EQ(replies[2]->text(), at("{foo}1", high));
  EXPECT_EQ(replies[3]->text(), at("{bar}1", low));
}

TEST_F(RedisCluster, WhatIsRedirectedInAPipelineIsSentAgain) {
  special = [&](const Words& words, Peer& peer, FakeRedis& self) -> std::string {
    const bool has_asked = peer.heard.size() > 1 && peer.heard.end()[-2] == Words{"ASKING"};
    if (words.back() == "foo" && &self == &high) return "-ASK 12182 " + low.place() + "\r\n";
    if (words.back() == "{foo}1" && &self == &high) return "-MOVED 12182 " + low.place() + "\r\n";
    if (words.back() == "foo" && !has_asked) return "-ERR not asked\r\n";
    return served(words, self);
  };
  Client client(options());
  std::vector<Command> commands;
  for (const char* const key : {"foo", "bar", "{foo}1"}) commands.emplace_back("GET", key);
  const Replies replies = run(client.pipeline(std::move(commands)));
  EXPECT_EQ(replies[0]->text(), at("foo", low));
  EXPECT_EQ(replies[1]->text(), at("bar", low));
  EXPECT_EQ(replies[2]->text(), at("{foo}1", low));
}

TEST_F(RedisCluster, ATransactionFollowsItsSlotAsAWhole) {
  special = [&](const Words& words, Peer&, FakeRedis& self) -> std::string {
    if (words[0] == "MULTI") return "+OK\r\n";
    if (&self == &high) {
      return words[0] == "EXEC" ? "-EXECABORT Transaction discarded\r\n"
                                : "-MOVED 12182 " + low.place() + "\r\n";
    }
    return words[0] == "EXEC" ? "*1\r\n:1\r\n" : "+QUEUED\r\n";
  };
  Client client(options());
  std::vector<Command> commands;
  commands.emplace_back("INCR", "foo");
  const auto replies = run(client.transaction(std::move(commands)));
  ASSERT_TRUE(replies) << replies.error().text;
  EXPECT_EQ(replies->front().integer(), 1);
}

TEST_F(RedisCluster, ATransactionOfTwoSlotsIsRefused) {
  Client client(options());
  std::vector<Command> commands;
  commands.emplace_back("INCR", "foo");
  commands.emplace_back("INCR", "bar");
  const auto replies = run(client.transaction(std::move(commands)));
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code(), Errc::Unsupported);
}

TEST_F(RedisCluster, ARefusedTransactionIsNotSentAgain) {
  special = [&](const Words& words, Peer&, FakeRedis&) -> std::string {
    if (words[0] == "MULTI") return "-NOPERM this user has no permissions\r\n";
    if (words[0] == "EXEC") return "-ERR EXEC without MULTI\r\n";
    return words[0] == "INCR" ? ":1\r\n" : "-MOVED 12182 " + low.place() + "\r\n";
  };
  Client client(options());
  std::vector<Command> commands;
  commands.emplace_back("INCR", "foo");
  commands.emplace_back("GET", "foo");
  EXPECT_EQ(error_code(run(client.transaction(std::move(commands))).error()), "NOPERM");
  EXPECT_EQ(low.heard().size() + high.heard().size(), 5U) << "with that for the map";
}

// Bounds.

TEST_F(RedisCluster, CommandsThatWaitForTheMapAreBounded) {
  low.go_away(*loop);
  Options few = options();
  few.max_waiting = 2;
  Client client(few);
  std::vector<Task<Result<Reply, Problem>>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(client.command("GET", "bar"));
    start(tasks.back());
  }
  EXPECT_FALSE(tasks[0].is_done());
  EXPECT_FALSE(tasks[1].is_done());
  ASSERT_TRUE(tasks[2].is_done());
  EXPECT_EQ(tasks[2].result().error().code(), Errc::Overloaded);
  tasks[0] = client.command("GET", "bar");  // drops the first one, which makes room
  start(tasks[0]);
  EXPECT_FALSE(tasks[0].is_done());
}

TEST_F(RedisCluster, BytesThatWaitAreBounded) {
  low.go_away(*loop);
  Options few = options();
  few.max_unsent_bytes = 100;
  Client client(few);
  auto large = client.command("GET", std::string(200, 'x'));
  auto small = client.command("GET", "bar");
  start(large);
  start(small);
  EXPECT_FALSE(large.is_done());
  ASSERT_TRUE(small.is_done());
  EXPECT_EQ(small.result().error().code(), Errc::Overloaded);
}

TEST_F(RedisCluster, AFullNodeFailsAtOnce) {
  special = [](const Words& words, Peer&, FakeRedis&) {
    return words.back() == "bar" ? bulk("bar") : std::string();
  };
  Options few = options();
  few.max_waiting = 2;
  Client client(few);
  EXPECT_EQ(get(client, "bar"), "bar");
  std::vector<Task<Result<Reply, Problem>>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(client.command(Command("GET", "foo").within(1h)));
    start(tasks.back());
  }
  EXPECT_FALSE(tasks[0].is_done());
  EXPECT_FALSE(tasks[1].is_done());
  ASSERT_TRUE(tasks[2].is_done());
  EXPECT_EQ(tasks[2].result().error().code(), Errc::Overloaded);
}

// Problems that do not pass.

TEST_F(RedisCluster, ARefusedLoginFailsAtOnce) {
  low.hello = high.hello = "-WRONGPASS invalid username-password pair\r\n";
  Client client(options());
  const auto reply = run(client.command(Command("GET", "foo").within(1h)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::ErrorReply);
  EXPECT_NE(reply.error().text.find("WRONGPASS"), std::string::npos) << reply.error().text;
}

TEST_F(RedisCluster, ARefusedLoginToOneNodeFailsAtOnce) {
  high.hello = "-WRONGPASS invalid username-password pair\r\n";
  Client client(options());
  EXPECT_EQ(get(client, "bar"), at("bar", low));
  const auto reply = run(client.command(Command("GET", "foo").within(1h)));
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().text.find("WRONGPASS"), std::string::npos) << reply.error().text;
  std::vector<Command> commands;
  for (const char* const key : {"foo", "bar"}) {
    commands.push_back(Command("GET", key).within(1h));
  }
  const Replies replies = run(client.pipeline(std::move(commands)));
  EXPECT_FALSE(replies[0]);
  EXPECT_TRUE(replies[1]);
}

TEST_F(RedisCluster, AnotherProgramInThePlaceOfANodeIsLeft) {
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", high));
  high.go_away(*loop);
  high.hello = "HTTP/1.1 400 Bad Request\r\n\r\n";
  high.come_back();
  high_master = &low;
  EXPECT_EQ(get(client, "foo"), at("foo", low));
}

TEST_F(RedisCluster, CommandsEndWithTheClient) {
  special = [](const Words&, Peer&, FakeRedis&) {
    return std::string("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  };
  Options slow = options();
  slow.min_backoff = slow.max_backoff = 1h;
  auto client = std::make_unique<Client>(slow);
  auto waits = client->command(Command("GET", "foo").within(10h));
  start(waits);
  until([&] { return high.heard().size() == 2; });
  for (int i = 0; i < 5; ++i) loop->poll(1ms);
  client.reset();
  until([&] { return waits.is_done(); });
  EXPECT_FALSE(waits.result());
}

TEST_F(RedisCluster, ADeadNodeIsReplacedByTheOneThatTakesItsSlots) {
  Client client(options());
  EXPECT_EQ(get(client, "foo"), at("foo", high));
  high.go_away(*loop);
  auto waits = client.command(Command("GET", "foo").within(5s));
  start(waits);
  for (int i = 0; i < 5; ++i) loop->poll(5ms);
  ASSERT_FALSE(waits.is_done());
  high_master = &low;
  while (!waits.is_done()) loop->poll(10ms);
  const auto reply = waits.result();
  ASSERT_TRUE(reply) << reply.error().text;
  EXPECT_EQ(reply->text(), at("foo", low));
}

TEST_F(RedisCluster, AnotherNodeIsAskedIfTheFirstOneIsAway) {
  low.go_away(*loop);
  low_master = &high;
  Options more = options();
  more.nodes = {high.place()};
  Client client(more);
  EXPECT_EQ(get(client, "bar"), at("bar", high));
}

TEST_F(RedisCluster, AServerWithoutAClusterIsAProblem) {
  FakeRedis single([](const Words&, Peer&) {
    return std::string("-ERR This instance has cluster support disabled\r\n");
  });
  Options one = options();
  one.url = single.url();
  Client client(one);
  const auto reply = run(client.command(Command("GET", "foo").within(1s)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().text,
            "could not ask " + single.place() +
                " for the slots: ERR This instance has cluster support disabled");
}

TEST_F(RedisCluster, AShardChannelIsOnTheNodeOfItsSlot) {
  special = [this](const Words& words, Peer&, FakeRedis& self) -> std::string {
    if (words[0] != "SSUBSCRIBE") return "+PONG\r\n";
    if (&self != high_master) return "-MOVED 12182 " + high_master->place() + "\r\n";
    return ">3\r\n" + bulk("ssubscribe") + bulk(words[1]) + ":1\r\n" + ">3\r\n" + bulk("smessage") +
           bulk(words[1]) + bulk("from " + self.place());
  };
  Client client(options());
  auto subscription = run(client.subscribe(Channels().shard("foo")));
  ASSERT_TRUE(subscription) << subscription.error().text;
  EXPECT_EQ(run(subscription->next())->payload, "from " + high.place());
  // The slot moves: the node unsubscribes the client.
  high_master = &low;
  high.push(">3\r\n" + bulk("sunsubscribe") + bulk("foo") + ":0\r\n");
  EXPECT_EQ(run(subscription->next())->kind, Message::Kind::Gap);
  EXPECT_EQ(run(subscription->next())->payload, "from " + low.place());
}

TEST_F(RedisCluster, ShardChannelsOfSeveralSlotsAreRefused) {
  Client client(options());
  const auto subscription = run(client.subscribe(Channels().shard("foo").shard("bar")));
  ASSERT_FALSE(subscription);
  EXPECT_EQ(subscription.error().code(), Errc::Unsupported);
}

}  // namespace
}  // namespace skua::redis
