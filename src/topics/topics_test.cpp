// SPDX-License-Identifier: MIT
// Topics of one process: places in a topic, what is kept, and who is there.
#include "skua/topics.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/metrics.hpp"
#include "topics/hub.hpp"
#include "topics/reading.hpp"

namespace skua {
namespace {

using Kind = TopicMessage::Kind;
using Members = std::vector<TopicMember>;

class TopicsOfAProcess : public ::testing::Test {
 protected:
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }
  template <class T>
  void start(Task<T>& task) {
    loop->post([&task] { task.start(nullptr, nullptr); });
    turn();
  }
  void turn() {
    for (int turns = 0; turns < 3; ++turns) loop->poll();
  }
  std::string publish(Topics& topics, std::string text, std::string once = {}) {
    return run(topics.publish("news", std::move(text), std::move(once))).value();
  }
  TopicSubscription subscribe(Topics& topics, TopicStart start = {}) {
    return run(topics.subscribe("news", start)).value();
  }
  /// Returns a message's text, or `(gap)`, or the error.
  std::string next(TopicSubscription& news) {
    const auto message = run(news.next());
    if (!message) return message.error().text;
    return message->kind == Kind::Gap ? "(gap)" : message->text;
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
};

TEST_F(TopicsOfAProcess, EachSubscriberGetsEachMessageOnce) {
  Topics topics;
  publish(topics, "before");
  TopicSubscription one = subscribe(topics);
  TopicSubscription two = subscribe(topics);
  const std::string first = publish(topics, "first");
  const std::string second = publish(topics, "second");
  EXPECT_LT(topics::parse_message_id(first), topics::parse_message_id(second));
  for (TopicSubscription* news : {&one, &two}) {
    const auto message = run(news->next());
    ASSERT_TRUE(message);
    EXPECT_EQ(message->text, "first");
    EXPECT_EQ(message->id, first);
    EXPECT_EQ(news->position(), first);
    EXPECT_EQ(next(*news), "second");
  }
}

TEST_F(TopicsOfAProcess, ASubscriberWaits) {
  Topics topics;
  TopicSubscription news = subscribe(topics);
  auto waits = news.next();
  start(waits);
  EXPECT_FALSE(waits.is_done());
  topics.post("else", "not this");
  turn();
  EXPECT_FALSE(waits.is_done());
  topics.post("news", "this");
  turn();
  ASSERT_TRUE(waits.is_done());
  EXPECT_EQ(waits.result()->text, "this");
}

TEST_F(TopicsOfAProcess, ADroppedWaitLosesNothing) {
  Topics topics;
  TopicSubscription news = subscribe(topics);
  {
    auto waits = news.next();
    start(waits);
    topics.post("news", "this");  // its wake-up is under way
  }
  turn();
  EXPECT_EQ(next(news), "this");
}

TEST_F(TopicsOfAProcess, ResumesAfterAnId) {
  Topics topics({.history = 10});
  const std::string first = publish(topics, "first");
  publish(topics, "second");
  const std::string third = publish(topics, "third");
  TopicSubscription news = subscribe(topics, {.after = first});
  EXPECT_EQ(next(news), "second");
  EXPECT_EQ(next(news), "third");
  TopicSubscription rest = subscribe(topics, {.after = third});
  publish(topics, "fourth");
  EXPECT_EQ(next(rest), "fourth");
  EXPECT_EQ(next(news), "fourth");
}

TEST_F(TopicsOfAProcess, IsToldThatMessagesAreNoLongerKept) {
  Topics topics({.history = 2});
  const std::string first = publish(topics, "first");
  const std::string second = publish(topics, "second");
  publish(topics, "third");
  publish(topics, "fourth");
  TopicSubscription late = subscribe(topics, {.after = first});
  const auto gap = run(late.next());
  EXPECT_EQ(gap->kind, Kind::Gap);
  EXPECT_EQ(gap->id, second) << "a client that resumes after the gap misses nothing more";
  EXPECT_EQ(next(late), "third");
  // The second is gone, too, but nothing after it.
  TopicSubscription complete = subscribe(topics, {.after = second});
  EXPECT_EQ(next(complete), "third");
}

TEST_F(TopicsOfAProcess, AnIdThatMakesNoSenseIsAGap) {
  Topics topics({.history = 2});
  publish(topics, "first");
  for (const char* const id : {"nonsense", "99999999999999-0", "1-1"}) {
    TopicSubscription news = subscribe(topics, {.after = id});
    EXPECT_EQ(next(news), "(gap)") << id;
    auto waits = news.next();
    start(waits);
    if (std::string(id) == "1-1") {  // older than all: what is kept follows
      EXPECT_EQ(waits.result()->text, "first");
    } else {
      EXPECT_FALSE(waits.is_done()) << id;
    }
  }
}

TEST_F(TopicsOfAProcess, WithoutHistoryOnlyTheLastIdIsComplete) {
  Topics topics;
  TopicSubscription stays = subscribe(topics);
  const std::string first = publish(topics, "first");
  publish(topics, "second");
  EXPECT_EQ(next(stays), "first");
  EXPECT_EQ(next(stays), "second");
  publish(topics, "third");
  EXPECT_EQ(next(stays), "third");
  TopicSubscription late = subscribe(topics, {.after = first});
  EXPECT_EQ(next(late), "(gap)");
  TopicSubscription complete = subscribe(topics, {.after = stays.position()});
  publish(topics, "fourth");
  EXPECT_EQ(next(complete), "fourth");
}

TEST_F(TopicsOfAProcess, BeginsWithTheNewest) {
  Topics topics({.history = 5});
  for (const char* const text : {"1", "2", "3"}) publish(topics, text);
  TopicSubscription two = subscribe(topics, {.history = 2});
  EXPECT_EQ(next(two), "2");
  EXPECT_EQ(next(two), "3");
  TopicSubscription all = subscribe(topics, {.history = 9});
  EXPECT_EQ(next(all), "1");
}

TEST_F(TopicsOfAProcess, ASlowSubscriberMissesTheOldest) {
  Topics topics({.max_waiting = 3});
  TopicSubscription news = subscribe(topics);
  for (int i = 1; i <= 3; ++i) publish(topics, std::to_string(i));
  EXPECT_EQ(next(news), "1");
  for (int i = 4; i <= 6; ++i) publish(topics, std::to_string(i));
  EXPECT_EQ(next(news), "(gap)");
  for (int i = 4; i <= 6; ++i) EXPECT_EQ(next(news), std::to_string(i));
}

// names: topics.next
TEST_F(TopicsOfAProcess, OrIsClosed) {
  Topics topics({.max_waiting = 3, .slow_subscriber = SlowSubscriber::Close});
  TopicSubscription slow = subscribe(topics);
  for (int i = 1; i <= 4; ++i) publish(topics, std::to_string(i));
  const auto end = run(slow.next());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code(), Errc::Overloaded);
  EXPECT_EQ(end.error().text, "messages were taken too slowly");
  // A client that resumes too late is not a slow subscriber.
  TopicSubscription late = subscribe(topics, {.after = "1-1"});
  EXPECT_EQ(next(late), "(gap)");
}

TEST_F(TopicsOfAProcess, ManyBytesAreTooMuch) {
  Topics topics({.history = 100, .topic_bytes = 10'000});
  TopicSubscription news = subscribe(topics);
  for (int i = 0; i < 10; ++i) publish(topics, std::to_string(i) + std::string(3'000, 'x'));
  EXPECT_EQ(next(news), "(gap)");
  EXPECT_EQ(next(news).substr(0, 1), "7");
  publish(topics, std::string(20'000, 'y'));
  EXPECT_EQ(next(news), "(gap)");
  EXPECT_EQ(next(news), std::string(20'000, 'y')) << "a single message may be larger";
}

TEST_F(TopicsOfAProcess, ARepeatedPublicationCountsOnce) {
  Topics topics;
  TopicSubscription news = subscribe(topics);
  const std::string first = publish(topics, "pay", "order 7");
  EXPECT_EQ(publish(topics, "pay", "order 7"), first);
  EXPECT_NE(publish(topics, "pay again", "order 8"), first);
  EXPECT_EQ(next(news), "pay");
  EXPECT_EQ(next(news), "pay again");
}

TEST_F(TopicsOfAProcess, AMessageThatIsTooLongIsAProblem) {
  std::vector<Errc> told;
  Topics topics(
      {.message_bytes = 10, .on_problem = [&](const Problem& why) { told.push_back(why.code()); }});
  const auto published = run(topics.publish("news", "eleven bytes"));
  EXPECT_EQ(published.error().code(), Errc::MessageTooLong);
  topics.post("news", "eleven bytes");
  EXPECT_EQ(told, (std::vector<Errc>{Errc::MessageTooLong}));
}

TEST_F(TopicsOfAProcess, AreCounted) {
  Topics topics({.max_waiting = 2, .message_bytes = 10});
  TopicSubscription news = subscribe(topics);
  TopicSubscription other = subscribe(topics);
  TopicMembers members = topics.watch_members("news");
  EXPECT_EQ(run(members.next()).value(), Members());
  for (int i = 1; i <= 3; ++i) publish(topics, std::to_string(i));
  topics.post("news", "eleven bytes");
  EXPECT_EQ(next(news), "(gap)");
  EXPECT_EQ(next(news), "2");
  EXPECT_EQ(next(news), "3");
  const TopicCounters counters = topics.counters();
  EXPECT_EQ(counters.published, 4U);
  EXPECT_EQ(counters.unpublished, 1U);
  EXPECT_EQ(counters.delivered, 2U);
  EXPECT_EQ(counters.gaps, 1U);
  EXPECT_EQ(counters.subscriptions, 2U);
  EXPECT_EQ(counters.bus_losses, 0U);
}

TEST_F(TopicsOfAProcess, AreMeasured) {
  Metrics metrics;
  auto topics = std::make_unique<Topics>();
  collect_topics(metrics, *topics);
  std::optional<TopicSubscription> news = subscribe(*topics);
  publish(*topics, "first");
  publish(*topics, "second");
  EXPECT_EQ(next(*news), "first");
  const auto has = [&metrics](std::string_view line) {
    return metrics.text().find("\n" + std::string(line) + "\n") != std::string::npos;
  };
  EXPECT_TRUE(has("skua_topics 1"));
  EXPECT_TRUE(has("skua_topics_memory_bytes " + std::to_string(topics->counters().bytes)));
  EXPECT_TRUE(has("skua_topics_subscriptions 1"));
  EXPECT_TRUE(has("skua_topics_messages_published_total 2"));
  EXPECT_TRUE(has("skua_topics_messages_delivered_total 1"));
  EXPECT_TRUE(has("skua_topics_gaps_total 0"));
  topics.reset();
  EXPECT_TRUE(has("skua_topics_subscriptions 1")) << "it outlives them";
  news.reset();
  EXPECT_EQ(metrics.text().find("skua_topics"), std::string::npos);
}

// names: topics.next_change
TEST_F(TopicsOfAProcess, EndWithTheirObject) {
  auto topics = std::make_unique<Topics>();
  TopicSubscription news = subscribe(*topics);
  const TopicPresence seat = topics->enter("news", {.name = "Ada"});
  TopicMembers members = topics->watch_members("news");
  EXPECT_TRUE(run(members.next_change()));
  auto waits = news.next();
  start(waits);
  topics.reset();
  turn();
  ASSERT_TRUE(waits.is_done());
  EXPECT_EQ(waits.result().error().code(), Errc::Closed);
  const auto change = run(members.next_change());
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().text, "the topics: the connection is closed");
}

TEST_F(TopicsOfAProcess, ChangesOfMembersAreDifferences) {
  Topics topics;
  const TopicMember ada{"Ada", ""};
  const TopicMember ben{"Ben", "{}"};
  std::vector<TopicPresence> seats;
  seats.push_back(topics.enter("room", ada));
  TopicMembers members = topics.watch_members("room");
  EXPECT_EQ(run(members.next_change()).value().joined, Members{ada});
  seats.push_back(topics.enter("room", ada));  // twice
  seats.push_back(topics.enter("room", ben));
  const TopicMemberChange more = run(members.next_change()).value();
  EXPECT_EQ(more.joined, (Members{ada, ben}));
  EXPECT_EQ(more.left, Members());
  seats.erase(seats.begin());
  const TopicMemberChange less = run(members.next_change()).value();
  EXPECT_EQ(less.joined, Members());
  EXPECT_EQ(less.left, Members{ada});
  seats.clear();
  EXPECT_EQ(run(members.next()).value(), Members());
}

TEST_F(TopicsOfAProcess, MembersComeAndGo) {
  Topics topics;
  TopicMembers members = topics.watch_members("room");
  EXPECT_EQ(run(members.next()).value(), Members());
  auto ben = std::make_unique<TopicPresence>(topics.enter("room", {.name = "Ben", .data = "{}"}));
  const TopicPresence ada = topics.enter("room", {.name = "Ada"});
  const TopicPresence eve = topics.enter("elsewhere", {.name = "Eve"});
  EXPECT_EQ(run(members.next()).value(), (Members{{"Ada", ""}, {"Ben", "{}"}}));
  auto waits = members.next();
  start(waits);
  EXPECT_FALSE(waits.is_done());
  ben.reset();
  turn();
  ASSERT_TRUE(waits.is_done());
  EXPECT_EQ(waits.result().value(), (Members{{"Ada", ""}}));
  EXPECT_EQ(run(topics.members("elsewhere")).value(), (Members{{"Eve", ""}}));
}

TEST_F(TopicsOfAProcess, SomebodyWhoComesAndGoesAtOnceIsNoChange) {
  Topics topics;
  TopicMembers members = topics.watch_members("room");
  EXPECT_EQ(run(members.next()).value(), Members());
  auto waits = members.next();
  start(waits);
  {
    const TopicPresence brief = topics.enter("room", {.name = "Ada"});
  }
  turn();
  EXPECT_FALSE(waits.is_done());
}

// Hubs with a clock of the test's.

class TopicsHub : public TopicsOfAProcess {
 protected:
  std::shared_ptr<topics::Hub> hub(TopicsOptions options) {
    return std::make_shared<topics::Hub>(std::move(options), nullptr, [this] { return now; });
  }
  std::string next_in(const std::shared_ptr<topics::Hub>& hub, std::string after) {
    topics::Start start;
    start.after = std::move(after);
    auto opened = run(topics::Reading::open(hub, "t:news", std::move(start)));
    const auto entry = run((*opened)->next());
    return (*entry)->message.kind == Kind::Gap ? "(gap)" : (*entry)->message.text;
  }

  std::chrono::milliseconds now{1'000'000};
};

TEST_F(TopicsHub, IdsAscendThoughTheClockGoesBack) {
  const auto topics = hub({.history = 10});
  EXPECT_EQ(topics->publish_here("t:news", "a", {}), "1000000-1");
  now += 5ms;
  EXPECT_EQ(topics->publish_here("t:news", "b", {}), "1000005-0");
  now -= 10s;
  EXPECT_EQ(topics->publish_here("t:news", "c", {}), "1000005-1");
  EXPECT_EQ(next_in(topics, "1000005-0"), "c");
}

TEST_F(TopicsHub, HistoryIsKeptForAWhile) {
  const auto topics = hub({.history = 10, .keep = 10s});
  const std::string first = topics->publish_here("t:news", "first", {});
  now += 9s;
  topics->publish_here("t:news", "second", {});
  EXPECT_EQ(next_in(topics, "1000000-0"), "first");
  now += 9s;
  EXPECT_EQ(next_in(topics, "1000000-0"), "(gap)");
  EXPECT_EQ(next_in(topics, first), "second");
}

TEST_F(TopicsHub, TopicsAreForgottenWhenTheirMessagesAreOld) {
  const auto topics = hub({.history = 5, .keep = 1s});
  for (int i = 0; i < 1'000; ++i) topics->publish_here("t:" + std::to_string(i), "text", {});
  EXPECT_EQ(topics->counters().topics, 1'000U);
  now += 2s;
  for (int i = 0; i < 300; ++i) topics->publish_here("t:same", "text", {});
  EXPECT_EQ(topics->counters().topics, 1U);
  now += 2s;
  EXPECT_EQ(topics->counters().topics, 0U) << "also if nothing is published";
  EXPECT_EQ(topics->counters().bytes, 0U);
  EXPECT_EQ(topics->counters().forgotten, 0U);
}

TEST_F(TopicsHub, AllTopicsHaveABudget) {
  const auto topics = hub({.history = 1'000, .total_bytes = 100'000, .kept_topics = 50});
  for (int i = 0; i < 200; ++i) topics->publish_here("t:" + std::to_string(i), "text", {});
  EXPECT_EQ(topics->counters().topics, 50U);
  EXPECT_EQ(topics->counters().forgotten, 150U);
  EXPECT_EQ(next_in(topics, "0-1"), "(gap)");
  for (int i = 0; i < 200; ++i) {
    topics->publish_here("t:" + std::to_string(i), std::string(20'000, 'x'), {});
    EXPECT_LE(topics->counters().bytes, 100'000U + 500U);
  }
  // Topics with a subscriber are not forgotten, but keep fewer messages.
  const auto used = topics->open("t:used");
  for (int i = 0; i < 20; ++i) topics->publish_here("t:used", std::string(20'000, 'x'), {});
  EXPECT_LE(topics->counters().bytes, 100'000U + 500U);
  EXPECT_EQ(topics->counters().topics, 1U);
}

TEST_F(TopicsHub, IdsOfAnEarlierProcessAreGaps) {
  const auto before = hub({.history = 10});
  const std::string id = before->publish_here("t:news", "first", {});
  now += 1s;
  const auto after = hub({.history = 10});
  after->publish_here("t:news", "second", {});
  EXPECT_EQ(next_in(after, id), "(gap)");
}

TEST_F(TopicsHub, ARepetitionIsForgottenInTheEnd) {
  const auto topics = hub({});
  const std::string first = topics->publish_here("t:news", "a", "once");
  now += 119s;
  EXPECT_EQ(topics->publish_here("t:news", "a", "once"), first);
  now += 2s;
  EXPECT_NE(topics->publish_here("t:news", "a", "once"), first);
}

TEST_F(TopicsHub, ForgetsTheOldestRepetitionsFirst) {
  const auto topics =
      std::make_shared<topics::Hub>(TopicsOptions(), nullptr, [this] { return now; }, 2);
  const auto publish = [&](const std::string& once) {
    return topics->publish_here("t:news", "a", once);
  };
  const std::string one = publish("one");
  const std::string two = publish("two");
  publish({});  // is not remembered
  EXPECT_EQ(publish("one"), one);
  EXPECT_EQ(publish("two"), two);
  const std::string three = publish("three");
  EXPECT_EQ(publish("two"), two);
  EXPECT_NE(publish("one"), one);
  EXPECT_EQ(publish("three"), three);
  EXPECT_NE(publish("two"), two);
}

TEST_F(TopicsHub, TellsTopicsApartWhateverTheirNames) {
  const auto topics = hub({});
  const std::string one = topics->publish_here("t:news", "a", "\nonce");
  EXPECT_NE(topics->publish_here("t:news\n", "a", "once"), one);
  EXPECT_NE(topics->publish_here("t:news\n\n", "a", "once"), one);
  EXPECT_EQ(topics->publish_here("t:news", "a", "\nonce"), one);
}

// Another process, or the bus itself, may have told a subscriber sooner than the log.
Task<> wait_ahead(std::shared_ptr<topics::Log> log) {
  using State = topics::Log::State;
  topics::Log::Cursor cursor(*log);
  cursor.position = {5, 0};
  EXPECT_EQ(log->join(cursor), State::Ahead);
  EXPECT_EQ(log->take(cursor).state, State::Behind) << "it has not joined";
  log->wait_for(cursor);
  log->append({4, 0}, "seen");
  log->append({5, 0}, "seen, too");
  EXPECT_EQ(log->take(cursor).state, State::Waits);
  log->append({6, 0}, "new");
  const topics::Log::Taken taken = log->take(cursor);
  EXPECT_EQ(taken.state, State::Taken);
  EXPECT_EQ(taken.entry ? taken.entry->message.text : "", "new");
  co_return;
}

TEST(TopicsLog, APlaceAheadOfItWaitsForWhatComesAfter) {
  const TopicsOptions options;
  Loop::create().value()->run(wait_ahead(std::make_shared<topics::Log>(
      options, topics::MessageId{3, 0}, std::make_shared<topics::LogBudget>(1'000))));
}

TEST(TopicMessage, IsJson) {
  const TopicMessage said{.id = "5-0", .text = "\"hi\"\n"};
  EXPECT_EQ(said.to_json(), R"({"id":"5-0","text":"\"hi\"\u000a"})");
  EXPECT_EQ((TopicMessage{.kind = Kind::Gap, .id = "5-0"}.to_json()), R"({"id":"5-0","gap":true})");
  EXPECT_EQ((TopicMessage{.kind = Kind::Start, .id = "5-0"}.to_json()), R"({"id":"5-0"})");
}

}  // namespace
}  // namespace skua
