// SPDX-License-Identifier: MIT
// Problems name the Redis that is away.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_redis.hpp"
#include "skua.hpp"

namespace skua::redis {
namespace {

class RedisProblems : public ::testing::Test {
 protected:
  template <class T>
  std::string problem_of(Task<Result<T, Problem>> task) {
    const Result<T, Problem> result = loop->run(std::move(task));
    return result ? "no problem" : result.error().text;
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
  FakeRedis server{[](const FakeRedis::Words&, FakeRedis::Peer&) { return std::string(); }};
};

// names: redis.command redis.transaction redis.eval redis.subscribe redis_stores.count
// names: redis_stores.replace revoked_sessions.revoke topics.publish topics.members
// names: topics.check
TEST_F(RedisProblems, NameTheServerThatIsAway) {
  server.go_away(*loop);
  Options options = quick(server);
  options.timeout = 200ms;
  options.connect = 100ms;
  Client client(options);
  const PerThread each(options);
  SharedRates rates(each);
  const auto texts = std::make_shared<SharedTexts>(each);
  const RevokedSessions revoked(texts);
  Topics topics(topic_bus(options, {.patience = 100ms}));
  const Script script("return 1");
  const std::vector<std::pair<const char*, std::function<std::string()>>> calls{
      {"command", [&] { return problem_of(client.command("PING")); }},
      {"transaction", [&] { return problem_of(client.transaction({Command("PING")})); }},
      {"eval", [&] { return problem_of(client.eval(script, Keys("a"))); }},
      {"subscribe", [&] { return problem_of(client.subscribe(Channels().channel("a"))); }},
      {"count", [&] { return problem_of(rates.count("a", {.interval = 1s})); }},
      {"replace", [&] { return problem_of(texts->replace("a", "b", "c", 1s)); }},
      {"revoke", [&] { return problem_of(revoked.revoke("a")); }},
      {"publish", [&] { return problem_of(topics.publish("a", "b")); }},
      {"members", [&] { return problem_of(topics.members("a")); }},
      {"check",
       [&] {
         Result<void, Problem> checked;
         while ((checked = topics.check())) loop->poll(10ms);
         return checked.error().text;
       }},
  };
  for (const auto& [name, call] : calls) {
    const std::string text = call();
    EXPECT_NE(text.find("could not connect to " + server.place()), std::string::npos)
        << name << ": " << text;
  }
}

}  // namespace
}  // namespace skua::redis
