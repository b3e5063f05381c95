// SPDX-License-Identifier: MIT
// Topics over a Redis that a test plays: connections that are lost, a Redis that is away, and one
// that has forgotten everything. The scripts run in tests/interop/topics_test.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "redis/fake_redis.hpp"
#include "redis/fake_streams.hpp"
#include "redis/topic_members.hpp"
#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/redis_topics.hpp"
#include "skua/topics.hpp"

namespace skua::redis {
namespace {

using Kind = TopicMessage::Kind;
using Words = FakeRedis::Words;
using Peer = FakeRedis::Peer;

class RedisTopics : public ::testing::Test {
 protected:
  void open(TopicBusOptions options = {}, TopicsOptions topics_options = {}) {
    topics = std::make_unique<Topics>(topic_bus(quick(server), std::move(options)),
                                      std::move(topics_options));
  }
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }
  template <class T>
  void start(Task<T>& task) {
    loop->post([&task] { task.start(nullptr, nullptr); });
    loop->poll();
  }
  template <class Condition>
  void until(Condition condition) {
    for (int turns = 0; !condition(); ++turns) {
      ASSERT_LT(turns, 10'000);
      loop->poll(10ms);
    }
  }
  TopicSubscription subscribe(TopicStart from = {}) {
    return run(topics->subscribe("news", from)).value();
  }
  std::string next(TopicSubscription& news) {
    const auto message = run(news.next());
    if (!message) return message.error().text;
    return message->kind == Kind::Gap ? "(gap)" : message->text;
  }
  std::size_t count_of(const std::string& topic) {
    return streams.streams[FakeStreams::key_of(topic)].size();
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
  FakeStreams streams;
  FakeRedis server{[this](const Words& words, Peer& peer) { return streams(words, peer); }};
  std::unique_ptr<Topics> topics;
};

TEST_F(RedisTopics, PublishAndSubscribe) {
  open();
  TopicSubscription news = subscribe();
  const auto id = run(topics->publish("news", "hello"));
  ASSERT_TRUE(id) << id.error().text;
  const auto message = run(news.next());
  ASSERT_TRUE(message) << message.error().text;
  EXPECT_EQ(message->text, "hello");
  EXPECT_EQ(message->id, *id);
  topics->post("news", "again");
  EXPECT_EQ(next(news), "again");
  EXPECT_TRUE(topics->check());
}

TEST_F(RedisTopics, ALogIsReadOnceForAllSubscribers) {
  open();
  TopicSubscription one = subscribe();
  TopicSubscription two = subscribe();
  EXPECT_TRUE(run(topics->publish("news", "hello")));
  EXPECT_EQ(next(one), "hello");
  EXPECT_EQ(next(two), "hello");
  EXPECT_EQ(server.connection_count(), 2U);
}

TEST_F(RedisTopics, ResumeFromWhatRedisKeeps) {
  open();
  std::string first;
  for (int i = 0; i < 200; ++i) {
    const std::string id = streams.publish("news", std::to_string(i));
    if (i == 0) first = id;
  }
  TopicSubscription news = subscribe({.after = first});
  for (int i = 1; i < 200; ++i) ASSERT_EQ(next(news), std::to_string(i));
  EXPECT_TRUE(run(topics->publish("news", "live")));
  EXPECT_EQ(next(news), "live");
  TopicSubscription newest = subscribe({.history = 2});
  EXPECT_EQ(next(newest), "199");
  EXPECT_EQ(next(newest), "live");
}

TEST_F(RedisTopics, AreToldWhatRedisDoesNotKeep) {
  open();
  const std::string first = streams.publish("news", "first");
  const std::string second = streams.publish("news", "second");
  streams.publish("news", "third");
  auto& all = streams.streams[FakeStreams::key_of("news")];
  all.erase(all.begin(), all.begin() + 2);  // trimmed
  TopicSubscription news = subscribe({.after = first});
  EXPECT_EQ(next(news), "(gap)");
  EXPECT_EQ(news.position(), second);
  EXPECT_EQ(next(news), "third");
  TopicSubscription complete = subscribe({.after = second});
  EXPECT_EQ(next(complete), "third");
  TopicSubscription future = subscribe({.after = "99999-0"});
  EXPECT_EQ(next(future), "(gap)");
}

// A publication whose reply was lost is sent again, and counts once.
TEST_F(RedisTopics, ALostReplyDoesNotDouble) {
  open();
  TopicSubscription news = subscribe();
  streams.lost_replies = 2;
  const auto id = run(topics->publish("news", "once"));
  ASSERT_TRUE(id) << id.error().text;
  EXPECT_EQ(count_of("news"), 1U);
  EXPECT_EQ(next(news), "once");
  EXPECT_TRUE(run(topics->publish("news", "next")));
  EXPECT_EQ(next(news), "next");
}

TEST_F(RedisTopics, ARepeatedRequestDoesNotDouble) {
  open();
  const auto one = run(topics->publish("news", "pay", "order 7"));
  const auto two = run(topics->publish("news", "pay", "order 7"));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(*one, *two);
  EXPECT_EQ(count_of("news"), 1U);
}

TEST_F(RedisTopics, KeepTheOrderOfAProcess) {
  open();
  TopicSubscription news = subscribe();
  streams.lost_replies = 1;
  for (int i = 0; i < 300; ++i) topics->post("news", std::to_string(i));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(next(news), std::to_string(i));
  EXPECT_EQ(count_of("news"), 300U);
}

TEST_F(RedisTopics, GoOnAfterTheLastIdWhenTheConnectionWasLost) {
  open();
  TopicSubscription news = subscribe();
  EXPECT_TRUE(run(topics->publish("news", "before")));
  EXPECT_EQ(next(news), "before");
  server.go_away(*loop);
  streams.publish("news", "while away");
  server.come_back();
  EXPECT_EQ(next(news), "while away");
  streams.publish("news", "after");
  EXPECT_EQ(next(news), "after");
}

TEST_F(RedisTopics, ANewTopicIsHeardOfBesideOthers) {
  open();
  TopicSubscription news = subscribe();
  until([&] { return streams.subscriber_count() == 1; });
  TopicSubscription other = run(topics->subscribe("other")).value();
  streams.publish("other", "hello");
  EXPECT_EQ(next(other), "hello");
}

// As if it were published before Redis had heard of the channel.
TEST_F(RedisTopics, WhatWasNotSaidIsFoundBeforeLong) {
  open({.heartbeat = 20ms});
  TopicSubscription news = subscribe();
  streams.is_mute = true;
  streams.publish("news", "in silence");
  EXPECT_EQ(next(news), "in silence");
}

TEST_F(RedisTopics, AMessageCostsTheSameHoweverManyTopicsAreWatched) {
  open();
  std::vector<TopicSubscription> all;
  const auto commands_of_a_message = [&] {
    const std::size_t before = server.heard().size();
    EXPECT_TRUE(run(topics->publish("news", "hello")));
    EXPECT_EQ(next(all[0]), "hello");
    std::size_t bytes = 0;
    for (std::size_t i = before; i < server.heard().size(); ++i) {
      for (const std::string& word : server.heard()[i]) bytes += word.size();
    }
    return bytes;
  };
  all.push_back(subscribe());
  until([&] { return streams.channel_count() == 1; });
  const std::size_t of_one = commands_of_a_message();
  for (int i = 0; i < 2'000; ++i) {
    all.push_back(run(topics->subscribe("topic " + std::to_string(i))).value());
  }
  until([&] { return streams.channel_count() == 2'001; });
  std::size_t least = commands_of_a_message();  // some commands may be of the topics before
  for (int i = 0; i < 10; ++i) least = std::min(least, commands_of_a_message());
  EXPECT_LE(least, of_one + of_one / 2);
  std::size_t longest = 0;
  for (const Words& words : server.heard()) longest = std::max(longest, words.size());
  EXPECT_LE(longest, 257U);
}

TEST_F(RedisTopics, ATopicIsForgottenSoonAfterItsLastSubscriber) {
  open({.heartbeat = 10ms, .max_topics = 3'000});
  for (int i = 0; i < 1'200; ++i) {
    EXPECT_TRUE(run(topics->subscribe("topic " + std::to_string(i))));
  }
  until([&] { return streams.channel_count() <= 1'024; });
  until([&] { return streams.channel_count() == 0; });
}

// names: topics.subscribe
TEST_F(RedisTopics, TooManyTopicsAreRefused) {
  open({.max_topics = 2});
  std::vector<TopicSubscription> all;
  for (const char* const name : {"a", "b", "a"}) {
    all.push_back(run(topics->subscribe(name)).value());
  }
  const auto refused = run(topics->subscribe("c"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::Overloaded);
  EXPECT_NE(refused.error().text.find("max_topics"), std::string::npos) << refused.error().text;
  all.pop_back();
  all.pop_back();  // "b" leaves at once if another needs its place
  EXPECT_TRUE(run(topics->subscribe("c")));
}

// A user that may not subscribe to channels hears of messages later, and check() says why.
TEST_F(RedisTopics, GoOnWithoutChannels) {
  FakeRedis server_without([this](const Words& words, Peer& peer) {
    if (words[0] == "SUBSCRIBE") return std::string("-NOPERM no channels\r\n");
    return streams(words, peer);
  });
  Topics own(topic_bus(quick(server_without), {.heartbeat = 20ms}));
  TopicSubscription news = run(own.subscribe("news")).value();
  until([&] { return !own.check(); });
  EXPECT_EQ(error_code(own.check().error()), "NOPERM");
  streams.publish("news", "late");
  EXPECT_EQ(next(news), "late");
}

// Redis is there: only its channels are not.
TEST_F(RedisTopics, PublishWithoutChannelsAndPatience) {
  FakeRedis server_without([this](const Words& words, Peer& peer) {
    if (words[0] == "SUBSCRIBE") return std::string("-NOPERM no channels\r\n");
    return streams(words, peer);
  });
  Topics own(topic_bus(quick(server_without), {.patience = 0s, .heartbeat = 20ms}));
  until([&] { return !own.check(); });
  EXPECT_EQ(error_code(own.check().error()), "NOPERM");
  const auto published = run(own.publish("news", "hello"));
  ASSERT_TRUE(published) << published.error().text;
  EXPECT_EQ(count_of("news"), 1U);
  EXPECT_EQ(own.counters().bus_losses, 0U);
}

TEST_F(RedisTopics, ADataLossIsAGap) {
  open();
  TopicSubscription news = subscribe();
  EXPECT_TRUE(run(topics->publish("news", "before")));
  EXPECT_EQ(next(news), "before");
  server.go_away(*loop);
  streams.streams.clear();
  server.come_back();
  EXPECT_EQ(next(news), "(gap)");
  EXPECT_TRUE(run(topics->publish("news", "after")));
  EXPECT_EQ(next(news), "after");
}

// Redis has lost all, and has new messages already when the reader comes back.
TEST_F(RedisTopics, ANewLifeIsAGap) {
  open();
  TopicSubscription news = subscribe();
  EXPECT_TRUE(run(topics->publish("news", "before")));
  EXPECT_EQ(next(news), "before");
  server.go_away(*loop);
  streams.streams.clear();
  streams.publish("news", "after");
  server.come_back();
  EXPECT_EQ(next(news), "(gap)");
  EXPECT_EQ(next(news), "after");
}

TEST_F(RedisTopics, PublicationsWaitForRedisForAWhile) {
  open({.patience = 10s});
  until([&] { return streams.subscriber_count() == 1; });
  server.go_away(*loop);
  auto waits = topics->publish("news", "late");
  start(waits);
  until([&] { return !topics->check(); });
  EXPECT_FALSE(waits.is_done());
  server.come_back();
  until([&] { return waits.is_done(); });
  EXPECT_TRUE(waits.result());
  EXPECT_EQ(count_of("news"), 1U);
  until([&] { return bool(topics->check()); });
  EXPECT_EQ(topics->counters().bus_losses, 1U);
  EXPECT_EQ(topics->counters().published, 1U);
  EXPECT_EQ(topics->counters().unpublished, 0U);
}

TEST_F(RedisTopics, AndFailInTheEnd) {
  open({.patience = 50ms});
  until([&] { return streams.subscriber_count() == 1; });
  server.go_away(*loop);
  const auto failed = run(topics->publish("news", "late"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Errc::TimedOut);
  EXPECT_TRUE(failed.error().text.starts_with("Redis did not take the message in time"))
      << failed.error().text;
}

TEST_F(RedisTopics, OrAtOnce) {
  std::atomic<int> problems = 0;
  open({.patience = 0s}, {.on_problem = [&](const Problem&) { ++problems; }});
  EXPECT_TRUE(run(topics->publish("news", "in time")));
  server.go_away(*loop);
  until([&] { return !topics->check(); });
  const auto failed = run(topics->publish("news", "late"));
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text.find(server.place()), std::string::npos) << failed.error().text;
  topics->post("news", "late");
  until([&] { return problems == 1; });
  EXPECT_EQ(count_of("news"), 1U);
}

TEST_F(RedisTopics, TooManyPublicationsAreRefused) {
  open({.max_waiting = 2});
  until([&] { return streams.subscriber_count() == 1; });
  server.go_away(*loop);
  auto one = topics->publish("news", "1");
  auto two = topics->publish("news", "2");
  start(one);
  start(two);
  const auto three = run(topics->publish("news", "3"));
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().code(), Errc::Overloaded);
}

TEST_F(RedisTopics, ARefusalEndsAtOnce) {
  FakeRedis refusing([](const Words& words, Peer&) {
    return std::string(words[0] == "PING" ? "+PONG\r\n"
                                          : "-NOPERM this user has no permissions\r\n");
  });
  Topics own(topic_bus(quick(refusing)));
  const auto published = run(own.publish("news", "hello"));
  ASSERT_FALSE(published);
  EXPECT_EQ(error_code(published.error()), "NOPERM");
  const auto subscribed = run(own.subscribe("news"));
  ASSERT_FALSE(subscribed);
  EXPECT_EQ(error_code(subscribed.error()), "NOPERM");
}

TEST_F(RedisTopics, TheirEndEndsAllThatWaits) {
  open();
  TopicSubscription news = subscribe();
  auto waits = news.next();
  start(waits);
  server.go_away(*loop);
  auto publishing = topics->publish("news", "never");
  auto subscribing = topics->subscribe("other");
  start(publishing);
  start(subscribing);
  const TopicPresence seat = topics->enter("news", {.name = "Ada"});
  topics.reset();
  until([&] { return waits.is_done() && publishing.is_done() && subscribing.is_done(); });
  EXPECT_EQ(waits.result().error().code(), Errc::Closed);
  EXPECT_EQ(publishing.result().error().code(), Errc::Closed);
  EXPECT_EQ(subscribing.result().error().code(), Errc::Closed);
}

TEST_F(RedisTopics, DroppedTasksLeaveNothingBehind) {
  open();
  for (int i = 0; i < 20; ++i) {
    auto subscribing = topics->subscribe("news");
    auto publishing = topics->publish("news", "hello");
    auto asking = topics->members("news");
    start(subscribing);
    start(publishing);
    start(asking);
    for (int turns = 0; turns < i; ++turns) loop->poll(1ms);
  }
  TopicSubscription news = subscribe();
  EXPECT_TRUE(run(topics->publish("news", "last")));
  std::string got;
  do got = next(news);
  while (got == "hello");
  EXPECT_EQ(got, "last");
}

TEST_F(RedisTopics, MembersAreToldAgain) {
  open({.heartbeat = 20ms});
  auto ada = std::make_unique<TopicPresence>(topics->enter("news", {.name = "Ada", .data = "{}"}));
  until([&] { return streams.members.size() == 1; });
  const auto listed = run(topics->members("news"));
  ASSERT_TRUE(listed) << listed.error().text;
  EXPECT_EQ(*listed, (std::vector<TopicMember>{{"Ada", "{}"}}));
  // Others have taken this process for dead.
  streams.members.clear();
  streams.is_node_known = false;
  until([&] { return streams.members.size() == 1; });
  // Redis was away, and has forgotten them.
  server.go_away(*loop);
  streams.members.clear();
  server.come_back();
  until([&] { return streams.members.size() == 1; });
  ada.reset();
  until([&] { return streams.members.empty(); });
}

TEST_F(RedisTopics, AMemberWhoLeftWhileRedisWasAwayLeavesLater) {
  open({.heartbeat = 20ms});
  auto ada = std::make_unique<TopicPresence>(topics->enter("news", {.name = "Ada"}));
  until([&] { return streams.members.size() == 1; });
  server.go_away(*loop);
  ada.reset();
  server.come_back();
  until([&] { return streams.members.empty(); });
}

TEST_F(RedisTopics, ChangesOfMembersAreHeard) {
  open();
  TopicMembers members = topics->watch_members("news");
  EXPECT_EQ(run(members.next()).value(), std::vector<TopicMember>());
  const TopicPresence ada = topics->enter("news", {.name = "Ada"});
  EXPECT_EQ(run(members.next()).value(), (std::vector<TopicMember>{{"Ada", ""}}));
}

Task<> count_changes(TopicMembers members, int& changes, std::size_t& present) {
  while (true) {
    const auto change = co_await members.next_change();
    if (!change) co_return;
    present += change->joined.size() - change->left.size();
    ++changes;
  }
}

// All who watch cost Redis a question or two for each change together, not one each.
TEST_F(RedisTopics, AProcessAsksOnceForAllWhoWatch) {
  constexpr int watchers = 200;
  open();
  std::vector<TopicPresence> seats;
  for (int i = 0; i < watchers; ++i) {
    seats.push_back(topics->enter("news", {.name = "member " + std::to_string(i)}));
  }
  until([&] { return streams.members.size() == watchers; });
  std::vector<int> changes(watchers);
  std::vector<std::size_t> present(watchers);
  Scope scope;
  for (std::size_t i = 0; i < watchers; ++i) {
    loop->post([&, i] {
      scope.spawn(count_changes(topics->watch_members("news"), changes[i], present[i]));
    });
  }
  const auto all_see = [&](std::size_t count) {
    return [&present, count] { return std::ranges::count(present, count) == watchers; };
  };
  until(all_see(watchers));
  const int before = streams.questions;
  seats.pop_back();
  until(all_see(watchers - 1));
  EXPECT_LE(streams.questions - before, watchers / 10) << "one or two, if this thread is not slow";
  EXPECT_EQ(*std::ranges::max_element(changes), 2) << "the first is all who were there";
}

TEST_F(RedisTopics, ManyMembersAreToldAgainInFewCommands) {
  constexpr std::size_t count = 600;
  open({.heartbeat = 20ms});
  std::vector<TopicPresence> seats;
  for (std::size_t i = 0; i < count; ++i) seats.push_back(topics->enter("news", {.name = "a"}));
  until([&] { return streams.members.size() == count; });
  streams.members.clear();
  const std::size_t before = server.heard().size();
  streams.is_node_known = false;
  until([&] { return streams.members.size() == count; });
  for (std::size_t i = before; i < server.heard().size(); ++i) {
    const Words& words = server.heard()[i];
    if (words[0] != "EVALSHA" || words[2] != "3") continue;
    // Three keys and three arguments, then members: 256 at once, or the rest.
    EXPECT_GE((words.size() - 9) / 2, count % 256);
  }
}

// A process has died: those who watch have to hear of it, and each topic is asked for once.
TEST_F(RedisTopics, AProcessThatDiedIsNoticedByABeat) {
  open({.heartbeat = 20ms});
  streams.other_nodes = {"other"};
  streams.members["other:1"] = text_of({.name = "Ben"});
  TopicMembers members = topics->watch_members("news");
  EXPECT_EQ(run(members.next()).value(), (std::vector<TopicMember>{{"Ben", ""}}));
  const int before = streams.questions;
  const auto beats = [&] {
    return std::ranges::count_if(server.heard(), [](const Words& words) {
      return words[0] == "EVALSHA" && words[2] == "1";
    });
  };
  auto beaten = beats();
  until([&] { return beats() > beaten + 3; });
  EXPECT_EQ(streams.questions, before) << "nothing has changed";
  streams.other_nodes.clear();
  streams.members.clear();  // as the script does
  beaten = beats();
  until([&] { return beats() > beaten + 3; });
  EXPECT_EQ(streams.questions, before + 1);
}

TEST(RedisTopicMember, IsReadAsItWasWritten) {
  for (const TopicMember& member : {TopicMember{}, TopicMember{"Ada", "{}"}, TopicMember{"3:a", ""},
                                    TopicMember{std::string("\0:", 2), ":"}}) {
    TopicMember read;
    EXPECT_TRUE(read_member(text_of(member), read));
    EXPECT_EQ(read, member);
  }
  for (const char* const text : {"", ":", "a:b", "4:abc", "-1:a", "99999999999999999999:a"}) {
    TopicMember read;
    EXPECT_FALSE(read_member(text, read)) << text;
  }
}

TEST(RedisTopicBus, ChecksItsOptions) {
  EXPECT_THROW(static_cast<void>(topic_bus({.url = "nonsense"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(topic_bus({}, {.heartbeat = 0s})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(topic_bus({}, {.history = 0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(topic_bus({}, {.max_topics = 0})), std::invalid_argument);
}

}  // namespace
}  // namespace skua::redis
