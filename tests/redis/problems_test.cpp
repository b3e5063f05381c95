// SPDX-License-Identifier: MIT
// Problems name the Redis that is away.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/closed_port.hpp"

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
  const testing::ClosedPort closed;
  const std::string place = "127.0.0.1:" + std::to_string(closed.number());
};

// names: redis.command redis.transaction redis.eval redis.subscribe redis_stores.count
// names: redis_stores.replace revoked_sessions.revoke topics.publish topics.members
// names: topics.check
TEST_F(RedisProblems, NameTheServerThatIsAway) {
  const std::string wanted = "could not connect to " + place;
  const Options options{.url = "redis://" + place,
                        .timeout = 200ms,
                        .connect = 100ms,
                        .min_backoff = 1ms,
                        .max_backoff = 5ms};
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
         const auto checked = topics.check();
         return checked ? "no problem" : checked.error().text;
       }},
  };
  for (const auto& [name, call] : calls) {
    // Why there is no connection is known once the first attempt has failed.
    std::string text = call();
    for (int more = 0; more < 1'000 && text.find(wanted) == text.npos; ++more) {
      loop->poll(10ms);
      text = call();
    }
    EXPECT_NE(text.find(wanted), std::string::npos) << name << ": " << text;
  }
}

}  // namespace
}  // namespace skua::redis
