// SPDX-License-Identifier: MIT
// The client against a server whose replies are written here: replies find their commands whatever
// happens to tasks and connections.
#include <memory>
#include <optional>
#include <stdexcept>
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

class RedisClient : public ::testing::Test {
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
  /// Runs turns until a condition holds.
  template <class Condition>
  void until(Condition condition) {
    for (int turns = 0; !condition(); ++turns) {
      ASSERT_LT(turns, 10'000);
      loop->poll(10ms);
    }
  }
  std::string reply_to(Client& client, const std::string& word) {
    const auto reply = run(client.command("ECHO", word));
    return reply ? std::string(reply->text()) : reply.error().text;
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
};

TEST_F(RedisClient, SendsACommandAndReadsItsReply) {
  FakeRedis server([](const Words&, Peer&) { return "%1\r\n$4\r\nname\r\n$3\r\nada\r\n"; });
  Client client(server.url());
  const auto reply = run(client.command("HGETALL", "user:1"));
  ASSERT_TRUE(reply) << reply.error().text;
  ASSERT_NE(reply->find("name"), nullptr);
  EXPECT_EQ(reply->find("name")->text(), "ada");
  EXPECT_EQ(server.heard(), (std::vector<Words>{{"HGETALL", "user:1"}}));
}

TEST_F(RedisClient, SendsNumbersAsTheyAreWritten) {
  FakeRedis server(echo);
  Client client(server.url());
  EXPECT_TRUE(run(client.command("ZADD", "key", 1.5, -7, std::string("member"), 0.1, 1e100)));
  EXPECT_EQ(server.heard().front(), (Words{"ZADD", "key", "1.5", "-7", "member", "0.1", "1e+100"}));
}

TEST_F(RedisClient, AnErrorReplyIsAProblemWithACode) {
  FakeRedis server([](const Words&, Peer&) { return "-WRONGTYPE Operation\r\n"; });
  Client client(server.url());
  const auto reply = run(client.command("INCR", "list"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::ErrorReply);
  EXPECT_EQ(reply.error().text, "WRONGTYPE Operation");
  EXPECT_EQ(error_code(reply.error()), "WRONGTYPE");
}

TEST_F(RedisClient, ManyTasksShareAConnection) {
  FakeRedis server(echo);
  Client client(server.url());
  std::vector<Task<Result<Reply, Problem>>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(client.command("ECHO", i));
  const auto replies = run(when_all(std::move(tasks)));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    ASSERT_TRUE(replies[i]);
    EXPECT_EQ(replies[i]->integer(), static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(server.connection_count(), 1U);
}

TEST_F(RedisClient, LogsInAsTheUrlSays) {
  FakeRedis server(echo);
  Options options = quick(server);
  options.url = "redis://ada:s%40crt@" + server.place() + "/3";
  options.client_name = "shop";
  Client client(options);
  EXPECT_EQ(reply_to(client, "a"), "a");
  EXPECT_EQ(server.logins(),
            (std::vector<Words>{{"HELLO", "3", "AUTH", "ada", "s@crt", "SETNAME", "shop"},
                                {"SELECT", "3"}}));
}

TEST_F(RedisClient, APasswordWithoutAUserIsTheDefaultUsers) {
  FakeRedis server(echo);
  Options options = quick(server);
  options.password = "secret";
  Client client(options);
  EXPECT_EQ(reply_to(client, "a"), "a");
  EXPECT_EQ(server.logins().front(), (Words{"HELLO", "3", "AUTH", "default", "secret"}));
}

TEST_F(RedisClient, ARefusedLoginFailsAtOnce) {
  FakeRedis server(echo);
  server.hello = "-WRONGPASS invalid username-password pair\r\n";
  Client client(quick(server));
  const auto reply = run(client.command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().text,
            "could not log in to " + server.place() + ": WRONGPASS invalid username-password pair");
  EXPECT_EQ(error_code(reply.error()), "");
}

TEST_F(RedisClient, APipelineKeepsTheOrderAndTheErrors) {
  FakeRedis server([](const Words& words, Peer&) {
    return words[0] == "BAD" ? std::string("-ERR bad\r\n") : bulk(words.back());
  });
  Client client(server.url());
  std::vector<Command> commands;
  commands.emplace_back("ECHO", "a");
  commands.emplace_back("BAD");
  commands.emplace_back("ECHO", "c");
  const Replies replies = run(client.pipeline(std::move(commands)));
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_EQ(replies[0]->text(), "a");
  EXPECT_TRUE(replies[1]->is_error());
  EXPECT_EQ(replies[2]->text(), "c");
}

TEST_F(RedisClient, AnEmptyPipelineHasNoReplies) {
  FakeRedis server(echo);
  Client client(server.url());
  EXPECT_TRUE(run(client.pipeline({})).empty());
}

TEST_F(RedisClient, ATransactionReturnsTheRepliesOfExec) {
  FakeRedis server([](const Words& words, Peer&) -> std::string {
    if (words[0] == "MULTI") return "+OK\r\n";
    if (words[0] == "EXEC") return "*2\r\n:1\r\n-WRONGTYPE Operation\r\n";
    return "+QUEUED\r\n";
  });
  Client client(server.url());
  std::vector<Command> commands;
  commands.emplace_back("INCR", "a");
  commands.emplace_back("INCR", "b");
  const auto replies = run(client.transaction(std::move(commands)));
  ASSERT_TRUE(replies) << replies.error().text;
  ASSERT_EQ(replies->size(), 2U);
  EXPECT_EQ((*replies)[0].integer(), 1);
  EXPECT_TRUE((*replies)[1].is_error());
}

TEST_F(RedisClient, ARefusedTransactionSaysWhichCommandWasWrong) {
  FakeRedis server([](const Words& words, Peer&) -> std::string {
    if (words[0] == "MULTI") return "+OK\r\n";
    if (words[0] == "EXEC") return "-EXECABORT Transaction discarded\r\n";
    return words[0] == "BAD" ? "-ERR unknown command\r\n" : "+QUEUED\r\n";
  });
  Client client(server.url());
  std::vector<Command> commands;
  commands.emplace_back("INCR", "a");
  commands.emplace_back("BAD");
  const auto replies = run(client.transaction(std::move(commands)));
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().text, "ERR unknown command");
}

TEST_F(RedisClient, ARefusedMultiSaysThatTheCommandsWereExecuted) {
  FakeRedis server([](const Words& words, Peer&) -> std::string {
    if (words[0] == "MULTI") return "-NOPERM this user has no permissions\r\n";
    return words[0] == "EXEC" ? "-ERR EXEC without MULTI\r\n" : ":1\r\n";
  });
  Client client(server.url());
  std::vector<Command> commands;
  commands.emplace_back("INCR", "a");
  const auto replies = run(client.transaction(std::move(commands)));
  ASSERT_FALSE(replies);
  EXPECT_EQ(error_code(replies.error()), "NOPERM");
  EXPECT_NE(replies.error().text.find("executed one by one"), std::string::npos);
}

TEST_F(RedisClient, AnEmptyTransactionHasNoReplies) {
  FakeRedis server(echo);
  Client client(server.url());
  const auto replies = run(client.transaction({}));
  ASSERT_TRUE(replies) << replies.error().text;
  EXPECT_TRUE(replies->empty());
  EXPECT_EQ(server.connection_count(), 0U);
}

TEST_F(RedisClient, AScriptIsSentOnceToAServerThatDoesNotKnowIt) {
  bool is_known = false;
  FakeRedis server([&](const Words& words, Peer&) -> std::string {
    if (words[0] == "EVAL") is_known = true;
    return is_known ? ":1\r\n" : "-NOSCRIPT No matching script\r\n";
  });
  Client client(server.url());
  const Script script("return 1");
  EXPECT_EQ(script.sha(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
  EXPECT_TRUE(run(client.eval(script, Keys("a", "b"), 5)));
  EXPECT_TRUE(run(client.eval(script, Keys("a", "b"), 5)));
  ASSERT_EQ(server.heard().size(), 3U);
  EXPECT_EQ(server.heard()[0], (Words{"EVALSHA", script.sha(), "2", "a", "b", "5"}));
  EXPECT_EQ(server.heard()[1], (Words{"EVAL", "return 1", "2", "a", "b", "5"}));
  EXPECT_EQ(server.heard()[2], server.heard()[0]);
}

TEST_F(RedisClient, CommandsThatChangeAConnectionAreRefused) {
  FakeRedis server(echo);
  Client client(server.url());
  for (const char* const name : {"MULTI", "watch", "SUBSCRIBE", "SELECT", "MONITOR", "QUIT"}) {
    const auto reply = run(client.command(name, "x"));
    ASSERT_FALSE(reply) << name;
    EXPECT_EQ(reply.error().code(), Errc::Unsupported) << name;
  }
  for (const char* const name : {"REPLY", "tracking", "CACHING", "NO-EVICT", "NO-TOUCH"}) {
    const auto reply = run(client.command("CLIENT", name, "ON"));
    ASSERT_FALSE(reply) << name;
    EXPECT_EQ(reply.error().code(), Errc::Unsupported) << name;
  }
  EXPECT_TRUE(run(client.command("CLIENT", "TRACKINGINFO")));
  EXPECT_TRUE(run(client.command("CLIENT", "ID")));
}

TEST_F(RedisClient, PushesThatNobodyAskedForAreIgnored) {
  FakeRedis server(
      [](const Words& words, Peer&) { return ">2\r\n+invalidate\r\n*0\r\n" + bulk(words.back()); });
  Client client(server.url());
  EXPECT_EQ(reply_to(client, "a"), "a");
  EXPECT_EQ(reply_to(client, "b"), "b");
}

// Time and cancellation.

TEST_F(RedisClient, ALateReplyIsNotThatOfTheNextCommand) {
  std::vector<Peer*> waiting;
  FakeRedis server([&](const Words& words, Peer& peer) -> std::string {
    if (words.back() != "late") return bulk(words.back());
    waiting.push_back(&peer);
    return {};
  });
  Client client(server.url());
  EXPECT_EQ(reply_to(client, "first"), "first");
  const auto late = run(client.command(Command("ECHO", "late").within(20ms)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Errc::TimedOut);
  until([&] { return waiting.size() == 1; });
  waiting[0]->write(bulk("late"));
  EXPECT_EQ(reply_to(client, "next"), "next");
  EXPECT_EQ(server.connection_count(), 1U);
}

TEST_F(RedisClient, ADroppedTaskDoesNotShiftReplies) {
  FakeRedis server(echo);
  Client client(server.url());
  EXPECT_EQ(reply_to(client, "first"), "first");
  for (int turns = 0; turns < 4; ++turns) {  // dropped in each turn up to its reply
    auto dropped = std::make_optional(client.command("ECHO", "dropped"));
    start(*dropped);
    for (int i = 0; i < turns; ++i) loop->poll(1ms);
    dropped.reset();
    EXPECT_EQ(reply_to(client, "next"), "next");
  }
}

TEST_F(RedisClient, ADroppedTaskIsNotSentOnceConnected) {
  FakeRedis server(echo);
  Client client(server.url());
  auto dropped = std::make_optional(client.command("ECHO", "dropped"));
  auto kept = client.command("ECHO", "kept");
  start(*dropped);
  start(kept);
  dropped.reset();
  until([&] { return kept.is_done(); });
  EXPECT_EQ(server.heard(), (std::vector<Words>{{"ECHO", "kept"}}));
}

TEST_F(RedisClient, ASilentServerIsGivenUp) {
  FakeRedis server([](const Words& words, Peer& peer) -> std::string {
    return peer.number == 0 ? std::string() : bulk(words.back());
  });
  Options options = quick(server);
  options.stall = 300ms;
  Client client(options);
  const auto reply = run(client.command("ECHO", "a"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::TimedOut);
  EXPECT_NE(reply.error().text.find("redis::Options::stall"), std::string::npos);
  EXPECT_EQ(reply_to(client, "b"), "b");
  EXPECT_EQ(server.connection_count(), 2U);
}

TEST_F(RedisClient, TasksEndWithTheClient) {
  FakeRedis server([](const Words&, Peer&) { return std::string(); });
  auto client = std::make_unique<Client>(server.url());
  auto waits = client->command("GET", "a");
  start(waits);
  until([&] { return server.heard().size() == 1; });
  auto is_new = client->command("GET", "b");
  client.reset();
  start(is_new);
  until([&] { return waits.is_done() && is_new.is_done(); });
  EXPECT_EQ(waits.result().error().code(), Errc::Closed);
  EXPECT_EQ(is_new.result().error().code(), Errc::Closed);
}

TEST_F(RedisClient, BlockingCommandsEndWithTheClient) {
  FakeRedis server([](const Words&, Peer&) { return std::string(); });
  auto client = std::make_unique<Client>(server.url());
  auto waits = client->command("BLPOP", "queue", 0);
  start(waits);
  until([&] { return server.heard().size() == 1; });
  auto is_new = client->command("BLPOP", "queue", 0);
  client.reset();
  start(is_new);
  until([&] { return waits.is_done() && is_new.is_done() && !server.peer(0).is_open; });
  EXPECT_EQ(waits.result().error().code(), Errc::Closed);
  EXPECT_EQ(is_new.result().error().code(), Errc::Closed);
  EXPECT_EQ(server.connection_count(), 1U);
}

TEST_F(RedisClient, BlockingCommandsThatWaitForAConnectionEndWithTheClient) {
  FakeRedis server(echo);
  server.hello = "";
  FakeRedis away(echo);
  away.go_away(*loop);
  Options silent = quick(server);
  Options refused = quick(away);
  silent.connect = 1h;
  refused.min_backoff = refused.max_backoff = 1h;
  for (const Options& options : {silent, refused}) {
    auto client = std::make_unique<Client>(options);
    auto waits = client->command("BLPOP", "queue", 0);
    start(waits);
    for (int i = 0; i < 5; ++i) loop->poll(5ms);
    ASSERT_FALSE(waits.is_done());
    client.reset();
    until([&] { return waits.is_done(); });
    EXPECT_EQ(waits.result().error().code(), Errc::Closed);
  }
}

// Losing the server.

TEST_F(RedisClient, ASentCommandFailsWithItsConnectionAndALaterOneReconnects) {
  FakeRedis server([](const Words& words, Peer& peer) -> std::string {
    if (peer.number != 0) return bulk(words.back());
    peer.close();
    return {};
  });
  Client client(quick(server));
  const auto lost = run(client.command("INCR", "a"));
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().code(), Errc::TimedOut);
  EXPECT_EQ(reply_to(client, "b"), "b");
  EXPECT_EQ(server.heard().size(), 2U);  // the first one was not sent again
}

TEST_F(RedisClient, CommandsWaitForAServerThatIsAway) {
  FakeRedis server(echo);
  Client client(quick(server));
  EXPECT_EQ(reply_to(client, "a"), "a");
  server.go_away(*loop);
  auto waits = client.command("ECHO", "b");
  start(waits);
  for (int i = 0; i < 5; ++i) loop->poll(5ms);
  ASSERT_FALSE(waits.is_done());
  server.come_back();
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result()->text(), "b");
}

TEST_F(RedisClient, AWaitThatIsTooLongSaysWhyThereIsNoConnection) {
  FakeRedis server(echo);
  server.go_away(*loop);
  Client client(quick(server));
  const auto reply = run(client.command(Command("PING").within(200ms)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::TimedOut);
  EXPECT_NE(reply.error().text.find("could not connect to " + server.place()), std::string::npos)
      << reply.error().text;
}

TEST_F(RedisClient, AFullQueueFailsAtOnce) {
  FakeRedis server(echo);
  server.go_away(*loop);
  Options options = quick(server);
  options.max_waiting = 2;
  Client client(options);
  std::vector<Task<Result<Reply, Problem>>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(client.command("ECHO", i));
    start(tasks.back());
  }
  EXPECT_FALSE(tasks[0].is_done());
  EXPECT_FALSE(tasks[1].is_done());
  ASSERT_TRUE(tasks[2].is_done());
  EXPECT_EQ(tasks[2].result().error().code(), Errc::Overloaded);
  tasks[0] = client.command("ECHO", 0);  // drops the first one, which makes room
  start(tasks[0]);
  EXPECT_FALSE(tasks[0].is_done());
  server.come_back();
  until([&] { return tasks[0].is_done() && tasks[1].is_done(); });
}

TEST_F(RedisClient, AServerThatIsLoadingIsAskedAgain) {
  FakeRedis server(echo);
  server.hello = "-LOADING Redis is loading the dataset in memory\r\n";
  Client client(quick(server));
  auto waits = client.command("ECHO", "a");
  start(waits);
  until([&] { return server.logins().size() >= 2; });
  server.hello = "%0\r\n";
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result()->text(), "a");
}

// Hostile servers.

TEST_F(RedisClient, AMalformedReplyEndsTheConnection) {
  FakeRedis server([](const Words& words, Peer& peer) {
    return peer.number == 0 ? std::string("?what\r\n") : bulk(words.back());
  });
  Client client(quick(server));
  const auto reply = run(client.command("ECHO", "a"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::MalformedReply);
  EXPECT_EQ(reply_to(client, "b"), "b");
}

TEST_F(RedisClient, AReplyThatIsTooLargeEndsTheConnection) {
  FakeRedis server([](const Words& words, Peer& peer) {
    return peer.number == 0 ? std::string("$1001\r\n") : bulk(words.back());
  });
  Options options = quick(server);
  options.max_reply_bytes = 1000;
  Client client(options);
  const auto reply = run(client.command("ECHO", "a"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::MessageTooLong);
  EXPECT_EQ(reply_to(client, "b"), "b");
}

TEST_F(RedisClient, AReplyThatNobodyAskedForEndsTheConnection) {
  FakeRedis server(echo);
  Client client(quick(server));
  EXPECT_EQ(reply_to(client, "a"), "a");
  server.push("+OK\r\n");
  until([&] { return !server.peer(0).is_open; });
  EXPECT_EQ(reply_to(client, "b"), "b");
}

TEST_F(RedisClient, AnHttpServerIsNotRedis) {
  FakeRedis server(echo);
  server.hello = "HTTP/1.1 400 Bad Request\r\n\r\n";
  Client client(quick(server));
  const auto reply = run(client.command("PING"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::MalformedReply);
}

// Blocking commands.

TEST_F(RedisClient, ABlockingCommandHoldsNobodyUp) {
  Peer* blocked = nullptr;
  FakeRedis server([&](const Words& words, Peer& peer) -> std::string {
    if (words[0] != "BLPOP") return bulk(words.back());
    blocked = &peer;
    return {};
  });
  Client client(quick(server));
  auto waits = client.command("BLPOP", "queue", 0);
  start(waits);
  until([&] { return blocked != nullptr; });
  EXPECT_EQ(reply_to(client, "a"), "a");
  EXPECT_FALSE(waits.is_done());
  blocked->write("*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n");
  until([&] { return waits.is_done(); });
  EXPECT_EQ(waits.result().value()[1].text(), "job");
  EXPECT_EQ(server.connection_count(), 2U);
  // The connection is kept for the next one.
  auto again = client.command("BLPOP", "queue", 0);
  start(again);
  until([&] { return server.heard().size() == 3; });
  EXPECT_EQ(server.connection_count(), 2U);
}

TEST_F(RedisClient, ABlockingCommandMayTakeLongerThanAStall) {
  Peer* blocked = nullptr;
  FakeRedis server([&](const Words& words, Peer& peer) {
    if (words[0] == "BLPOP") blocked = &peer;
    return std::string();
  });
  Options options = quick(server);
  options.stall = 200ms;
  Client client(options);
  auto waits = client.command("BLPOP", "queue", 0);
  start(waits);
  until([&] { return blocked != nullptr; });
  // Another connection stalls later than this one would.
  EXPECT_EQ(run(client.command("GET", "a")).error().code(), Errc::TimedOut);
  EXPECT_EQ(run(client.command("GET", "a")).error().code(), Errc::TimedOut);
  ASSERT_FALSE(waits.is_done());
  blocked->write("*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n");
  until([&] { return waits.is_done(); });
  const auto job = waits.result();
  ASSERT_TRUE(job) << job.error().text;
  EXPECT_EQ((*job)[1].text(), "job");
}

TEST_F(RedisClient, ADroppedBlockingCommandClosesItsConnection) {
  Peer* blocked = nullptr;
  FakeRedis server([&](const Words&, Peer& peer) -> std::string {
    blocked = &peer;
    return {};
  });
  Client client(quick(server));
  auto waits = std::make_optional(client.command("XREAD", "BLOCK", 0, "STREAMS", "s", "$"));
  start(*waits);
  until([&] { return blocked != nullptr; });
  waits.reset();
  until([&] { return !blocked->is_open; });
}

TEST_F(RedisClient, BlockingCommandsAreBounded) {
  FakeRedis server([](const Words&, Peer&) { return std::string(); });
  Options options = quick(server);
  options.max_connections = 2;
  Client client(options);
  std::vector<Task<Result<Reply, Problem>>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(client.command("BLPOP", "queue", 0));
    start(tasks.back());
  }
  ASSERT_TRUE(tasks[2].is_done());
  EXPECT_EQ(tasks[2].result().error().code(), Errc::Overloaded);
}

TEST_F(RedisClient, APipelineWithWaitHasAConnectionOfItsOwn) {
  FakeRedis server([](const Words&, Peer&) { return ":1\r\n"; });
  Client client(quick(server));
  EXPECT_TRUE(run(client.command("PING")));
  std::vector<Command> commands;
  commands.emplace_back("SET", "a", "1");
  commands.emplace_back("WAIT", 1, 1000);
  EXPECT_EQ(run(client.pipeline(std::move(commands))).size(), 2U);
  EXPECT_EQ(server.peer(1).heard.size(), 2U);
}

// Options.

TEST_F(RedisClient, MalformedOptionsAreRefused) {
  for (const char* const url :
       {"", "localhost", "http://localhost", "redis://", "redis://localhost/x",
        "unix:", "redis://localhost/0?db=1", "redis://user@localhost", "redis://localhost:99999"}) {
    EXPECT_THROW(Client{url}, std::invalid_argument) << url;
  }
  EXPECT_THROW(Client(Options{.client_name = "a b"}), std::invalid_argument);
  EXPECT_THROW(Client(Options{.timeout = 0s}), std::invalid_argument);
  EXPECT_THROW(Client(Options{.connect = 0s}), std::invalid_argument);
  EXPECT_THROW(Client(Options{.stall = 0s}), std::invalid_argument);
  EXPECT_THROW(Client(Options{.mode = Mode::Sentinel}), std::invalid_argument);
  EXPECT_THROW(Client(Options{.url = "redis://a/1", .mode = Mode::Cluster}), std::invalid_argument);
  EXPECT_THROW(Client(Options{.mode = Mode::Cluster, .nodes = {"nowhere"}}), std::invalid_argument);
}

TEST_F(RedisClient, EachThreadHasAClient) {
  FakeRedis server(echo);
  const PerThread redis(server.url());
  Client& here = redis.here();
  EXPECT_EQ(&here, &redis.here());
  EXPECT_EQ(run(redis->command("ECHO", "a"))->text(), "a");
  const PerThread other(server.url());
  EXPECT_NE(&here, &other.here());
}

TEST(RedisClientWithoutALoop, Throws) {
  EXPECT_THROW(Client("redis://127.0.0.1"), std::logic_error);
}

}  // namespace
}  // namespace skua::redis
