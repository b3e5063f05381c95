// SPDX-License-Identifier: MIT
// A client with a plain URL whose server has become a replica: its name leads to another one by
// now, which is the second connection here.
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

class RedisFailover : public ::testing::Test {
 protected:
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }
  std::string reply_to(Client& client, const std::string& word) {
    const auto reply = run(client.command("ECHO", word));
    return reply ? std::string(reply->text()) : reply.error().text;
  }

  const std::unique_ptr<Loop> loop = Loop::create().value();
};

TEST_F(RedisFailover, AWriteThatAReplicaRefusesGoesToTheNewMaster) {
  FakeRedis server([](const Words& words, Peer& peer) {
    return peer.number == 0 ? std::string("-READONLY You can't write\r\n") : bulk(words.back());
  });
  Client client(quick(server));
  EXPECT_EQ(reply_to(client, "a"), "a");
  EXPECT_EQ(server.connection_count(), 2U);
}

TEST_F(RedisFailover, AServerThatCannotServeIsLookedUpAgain) {
  for (const char* const error : {"-MASTERDOWN Link is down\r\n", "-LOADING in memory\r\n"}) {
    FakeRedis server([error](const Words& words, Peer& peer) {
      return peer.number == 0 ? std::string(error) : bulk(words.back());
    });
    Client client(quick(server));
    EXPECT_NE(reply_to(client, "a"), "a");
    EXPECT_EQ(reply_to(client, "b"), "b") << error;
  }
}

TEST_F(RedisFailover, AReplicaThatIsMeantKeepsItsConnections) {
  FakeRedis server([](const Words&, Peer&) { return "-READONLY You can't write\r\n"; });
  Client client(quick(server));
  for (int i = 0; i < 20; ++i) {
    const auto reply = run(client.command("SET", "key", "text"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(error_code(reply.error()), "READONLY");
  }
  EXPECT_EQ(server.heard().size(), 40U) << "each is tried once more";
  EXPECT_LT(server.connection_count(), 20U);
}

}  // namespace
}  // namespace skua::redis
