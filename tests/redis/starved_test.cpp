// SPDX-License-Identifier: MIT
// A failed allocation costs only what needed it; the next command succeeds. Fails each allocation
// of each kind of command in turn.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis/fake_redis.hpp"
#include "skua/loop.hpp"
#include "skua/redis.hpp"
#include "support/allocations.hpp"
#include "support/run_on.hpp"

namespace skua::redis {
namespace {

using testing::FailingAllocations;
using Words = FakeRedis::Words;
using Peer = FakeRedis::Peer;

constexpr std::uint64_t last_allocation = 400;
constexpr std::uint64_t all_that_follow = 1'000'000;

std::string answer(const Words& words, Peer& peer, std::uint16_t port) {
  const std::string& name = words[0];
  if (name == "MULTI") return "+OK\r\n";
  if (name == "INCR") return "+QUEUED\r\n";
  if (name == "EXEC") return "*1\r\n:1\r\n";
  if (name == "PING") return "+PONG\r\n";
  if (name == "BLPOP") return "*2\r\n" + bulk("queue") + bulk("job");
  if (name == "CLUSTER") {
    return "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n" + bulk("127.0.0.1") + ":" + std::to_string(port) +
           "\r\n" + bulk("id");
  }
  if (name == "SUBSCRIBE") {
    peer.write(">3\r\n" + bulk("subscribe") + bulk(words[1]) + ":1\r\n");
    return ">3\r\n" + bulk("message") + bulk(words[1]) + bulk("a text that is longer than a word");
  }
  return bulk(words.back());
}

/// A server on a thread of its own, whose allocations succeed.
class ServerThread {
 public:
  ServerThread() : thread_([this] { run(); }), port_(told_.get_future().get()) {}
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;
  ~ServerThread() {
    is_over_ = true;
    thread_.join();
  }

  [[nodiscard]] Options options(Mode mode) const {
    return {.url = "redis://127.0.0.1:" + std::to_string(port_),
            .mode = mode,
            .min_backoff = 1ms,
            .max_backoff = 5ms};
  }

 private:
  void run() {
    const std::unique_ptr<Loop> loop = Loop::create().value();
    std::uint16_t port = 0;
    FakeRedis server([&](const Words& words, Peer& peer) { return answer(words, peer, port); });
    port = server.port();
    told_.set_value(port);
    while (!is_over_) loop->poll(5ms);
  }

  std::atomic<bool> is_over_{false};
  std::promise<std::uint16_t> told_;
  std::thread thread_;
  std::uint16_t port_;
};

Error error_of(const Result<Reply, Problem>& reply) {
  return reply ? Error(Errc::None) : reply.error().error;
}

/// A kind of command. `ask` returns Errc::None if it succeeded.
struct Kind {
  const char* name;
  Task<Error> (*ask)(Client& client);
};

Task<Error> ask_one(Client& client) {
  Command command("ECHO", "an argument that is longer than a word");
  command.within(5s);
  const Result<Reply, Problem> reply = co_await client.command(std::move(command));
  if (reply) {
    EXPECT_EQ(reply->text(), "an argument that is longer than a word");
  }
  co_return error_of(reply);
}

Task<Error> ask_many(Client& client) {
  std::vector<Command> commands;
  for (int i = 0; i < 5; ++i) commands.emplace_back("ECHO", i);
  const Replies replies = co_await client.pipeline(std::move(commands));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i]) co_return replies[i].error().error;
    EXPECT_EQ(replies[i]->integer(), static_cast<std::int64_t>(i));
  }
  co_return Errc::None;
}

Task<Error> ask_all_or_none(Client& client) {
  std::vector<Command> commands;
  commands.emplace_back("INCR", "key");
  const auto replies = co_await client.transaction(std::move(commands));
  co_return replies ? Error(Errc::None) : replies.error().error;
}

Task<Error> block(Client& client) {
  Command command("BLPOP", "queue", 0);
  command.within(5s);
  const Result<Reply, Problem> reply = co_await client.command(std::move(command));
  if (reply) {
    EXPECT_EQ((*reply)[1].text(), "job");
  }
  co_return error_of(reply);
}

Task<Error> listen(Client& client) {
  Channels channels;
  channels.channel("a channel whose name is longer than a word");
  auto subscription = co_await client.subscribe(std::move(channels));
  if (!subscription) co_return subscription.error().error;
  const auto message = co_await subscription->next();  // or a gap
  co_return message ? Error(Errc::None) : message.error().error;
}

constexpr Kind kinds[] = {{"Command", ask_one},
                          {"Pipeline", ask_many},
                          {"Transaction", ask_all_or_none},
                          {"Blocking", block},
                          {"Subscription", listen}};

Task<> ask_twice(Client& client, const Kind& kind) {
  for (int i = 0; i < 2; ++i) {
    Error error = Errc::None;
    try {
      const Error told = co_await kind.ask(client);
      error = told;
    } catch (const std::bad_alloc&) {
      error = Errc::OutOfMemory;
    }
    EXPECT_TRUE(error.code() == Errc::None || FailingAllocations::has_failed()) << error.message();
    EXPECT_NE(error.code(), Errc::TimedOut);
  }
}

/// Reports whether an allocation failed.
Task<bool> suffers(const Options& options, const Kind& kind, std::uint64_t first,
                   std::uint64_t count) {
  Client client(options);
  bool has_failed = false;
  {
    const FailingAllocations failing(FailingAllocations::Where::ThisThread, first, count);
    try {
      co_await ask_twice(client, kind);
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(FailingAllocations::has_failed());
    }
    has_failed = FailingAllocations::has_failed();
  }
  const Error error = co_await ask_one(client);
  EXPECT_EQ(error.code(), Errc::None) << kind.name << " " << first << ": " << error.message();
  co_return has_failed;
}

class StarvedRedisClient : public ::testing::TestWithParam<Mode> {
 protected:
  void expect_survival(std::uint64_t count) {
    const Options options = server_.options(GetParam());
    // A cluster pauses before it reads the map again, so it gets fewer.
    const bool is_cluster = GetParam() == Mode::Cluster;
    const std::uint64_t step = is_cluster ? 3 : 1;
    for (const Kind& kind : kinds) {
      if (is_cluster && kind.ask != ask_one) continue;
      for (std::uint64_t first = 1; first <= last_allocation; first += step) {
        const bool has_failed =
            skua::testing::run_on(BackendChoice::Auto, suffers(options, kind, first, count));
        ASSERT_FALSE(HasFailure()) << kind.name << " " << first;
        if (!has_failed) break;
      }
    }
  }

  ServerThread server_;
};

TEST_P(StarvedRedisClient, LosesACommandAtMost) { expect_survival(1); }

TEST_P(StarvedRedisClient, LosesWhatItIsAskedForWhileNothingCanBeAllocated) {
  expect_survival(all_that_follow);
}

std::string name_of(const ::testing::TestParamInfo<Mode>& tested) {
  return tested.param == Mode::Single ? "Single" : "Cluster";
}

INSTANTIATE_TEST_SUITE_P(Modes, StarvedRedisClient, ::testing::Values(Mode::Single, Mode::Cluster),
                         name_of);

}  // namespace
}  // namespace skua::redis
