// SPDX-License-Identifier: MIT
// A client that learns from Sentinels which server is the master.
#include <algorithm>
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

class RedisSentinel : public ::testing::Test {
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
  /// Tells the client of another master.
  void switch_to(FakeRedis& other) {
    master = &other;
    sentinel.push(">3\r\n" + bulk("message") + bulk("+switch-master") +
                  bulk("shop 127.0.0.1 1 127.0.0.1 " + std::to_string(other.port())));
  }
  std::size_t count_of(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        sentinel.heard(), [&](const Words& words) { return words[0] == name; }));
  }
  std::string tell(const Words& words) const {
    if (words[0] == "SUBSCRIBE" && is_subscription_refused) return "-NOPERM not you\r\n";
    if (words[0] == "SUBSCRIBE") return ">3\r\n" + bulk("subscribe") + bulk(words[1]) + ":1\r\n";
    if (words[0] == "PING") return "+PONG\r\n";
    if (words.back() != "shop") return "_\r\n";
    return "*2\r\n" + bulk("127.0.0.1") + bulk(std::to_string(master->port()));
  }
  static std::string serve(const Words& words, const FakeRedis& self) {
    return bulk(words.back() + "@" + std::to_string(self.port()));
  }
  Options options() const {
    return {.url = sentinel.url(),
            .mode = Mode::Sentinel,
            .master = "shop",
            .min_backoff = 1ms,
            .max_backoff = 5ms};
  }
  std::string echo_of(Client& client, const std::string& word) {
    const auto reply = run(client.command(Command("ECHO", word).within(2s)));
    return reply ? std::string(reply->text()) : reply.error().text;
  }
  static std::string at(const std::string& word, const FakeRedis& server) {
    return word + "@" + std::to_string(server.port());
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
  FakeRedis one{[this](const Words& words, Peer&) { return serve(words, one); }};
  FakeRedis two{[this](const Words& words, Peer&) { return serve(words, two); }};
  FakeRedis* master = &one;
  bool is_subscription_refused = false;
  FakeRedis sentinel{[this](const Words& words, Peer&) { return tell(words); }};
};

TEST_F(RedisSentinel, TellsTheMaster) {
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
  EXPECT_EQ(one.logins().back(), Words{"ROLE"});
}

TEST_F(RedisSentinel, GetsNoPasswordOfTheMaster) {
  Options with_password = options();
  with_password.password = "secret";
  Client client(with_password);
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
  EXPECT_EQ(sentinel.logins().front(), (Words{"HELLO", "3"}));
  EXPECT_EQ(one.logins().front(), (Words{"HELLO", "3", "AUTH", "default", "secret"}));
}

TEST_F(RedisSentinel, ASwitchIsFollowed) {
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
  until([&] {
    return std::ranges::any_of(sentinel.heard(),
                               [](const Words& words) { return words[0] == "SUBSCRIBE"; });
  });
  switch_to(two);
  until([&] { return !one.peer(0).is_open; });
  EXPECT_EQ(echo_of(client, "b"), at("b", two));
}

TEST_F(RedisSentinel, ASwitchToTheSameMasterKeepsItsConnections) {
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
  switch_to(one);
  for (int i = 0; i < 5; ++i) loop->poll(5ms);
  EXPECT_EQ(echo_of(client, "b"), at("b", one));
  EXPECT_EQ(one.connection_count(), 1U);
  EXPECT_TRUE(one.peer(0).is_open);
}

TEST_F(RedisSentinel, ASwitchEndsBlockingCommandsOfTheOldMaster) {
  FakeRedis old([](const Words& words, Peer&) {
    return words[0] == "BLPOP" ? std::string() : bulk(words.back());
  });
  master = &old;
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), "a");
  auto waits = client.command("BLPOP", "queue", 0);
  start(waits);
  until([&] { return old.heard().size() == 2; });
  switch_to(two);
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result().error().code(), Errc::Closed);
  until([&] { return !old.peer(0).is_open && !old.peer(1).is_open; });
}

TEST_F(RedisSentinel, AConnectionToTheOldMasterThatIsNotReadyYetIsLeft) {
  one.hello = one.role = "";
  Client client(options());
  auto waits = client.command(Command("ECHO", "a").within(5s));
  start(waits);
  until([&] { return one.logins().size() == 2; });
  switch_to(two);
  for (int i = 0; i < 5; ++i) loop->poll(5ms);
  one.peer(0).write("%0\r\n*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result()->text(), at("a", two));
  EXPECT_TRUE(one.heard().empty());
}

TEST_F(RedisSentinel, ARefusedSubscriptionIsNotTakenForTheReply) {
  is_subscription_refused = true;
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
  until([&] { return count_of("SUBSCRIBE") >= 2; });
  for (std::size_t i = 0; i < sentinel.connection_count(); ++i) {
    const auto& heard = sentinel.peer(i).heard;
    EXPECT_EQ(heard.size(), 1U) << "nothing is asked behind it";
  }
  one.go_away(*loop);
  master = &two;
  EXPECT_EQ(echo_of(client, "b"), at("b", two));
}

TEST_F(RedisSentinel, EndsWithItsClient) {
  Options patient = options();
  patient.stall = 1h;
  auto client = std::make_unique<Client>(patient);
  EXPECT_EQ(echo_of(*client, "a"), at("a", one));
  until([&] { return count_of("SUBSCRIBE") == 1; });
  auto waits = client->command("ECHO", "b");  // keeps what it needs of the client
  client.reset();
  until([&] {
    for (std::size_t i = 0; i < sentinel.connection_count(); ++i) {
      if (sentinel.peer(i).is_open) return false;
    }
    return true;
  });
  EXPECT_EQ(run(std::move(waits)).error().code(), Errc::Closed);
}

TEST_F(RedisSentinel, ASwitchOfAnotherMasterIsIgnored) {
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
  sentinel.push(">3\r\n" + bulk("message") + bulk("+switch-master") +
                bulk("shop2 127.0.0.1 1 127.0.0.1 2"));
  EXPECT_EQ(echo_of(client, "b"), at("b", one));
  EXPECT_EQ(one.connection_count(), 1U);
}

TEST_F(RedisSentinel, AMasterThatHasBecomeAReplicaIsLeft) {
  bool is_replica = false;
  FakeRedis old([&](const Words& words, Peer&) {
    if (is_replica)
      return std::string("-READONLY You can't write against a read only replica.\r\n");
    return bulk(words.back());
  });
  master = &old;
  Client client(options());
  EXPECT_EQ(echo_of(client, "a"), "a");
  is_replica = true;
  master = &two;
  EXPECT_EQ(echo_of(client, "b"), at("b", two));
}

TEST_F(RedisSentinel, AReplicaIsNotTakenForTheMaster) {
  one.role = "*5\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n$9\r\nconnected\r\n:0\r\n";
  Client client(options());
  auto waits = client.command(Command("ECHO", "a").within(5s));
  start(waits);
  until([&] { return one.connection_count() >= 2; });
  EXPECT_FALSE(waits.is_done());
  EXPECT_TRUE(one.heard().empty());
  one.role = "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n";
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result()->text(), at("a", one));
}

TEST_F(RedisSentinel, AnUnknownMasterIsAProblem) {
  Options other = options();
  other.master = "unknown";
  Client client(other);
  const auto reply = run(client.command(Command("PING").within(1s)));
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().text.find("for the master unknown: it does not know it"),
            std::string::npos)
      << reply.error().text;
}

TEST_F(RedisSentinel, TheNextSentinelIsAskedIfOneIsAway) {
  FakeRedis away([](const Words&, Peer&) { return std::string(); });
  away.go_away(*loop);
  Options two_of_them = options();
  two_of_them.url = away.url();
  two_of_them.nodes = {sentinel.place()};
  Client client(two_of_them);
  EXPECT_EQ(echo_of(client, "a"), at("a", one));
}

}  // namespace
}  // namespace skua::redis
