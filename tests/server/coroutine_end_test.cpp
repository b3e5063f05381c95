// SPDX-License-Identifier: MIT
// Suspended handlers and streams that end early: the peer leaves, stalls or half-closes, or the
// server drains or stops.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "server/coroutine_server.hpp"
#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;

class CoroutineEnds : public testing::CoroutineServer {};

TEST_P(CoroutineEnds, AreDroppedWhenThePeerResets) {
  for (const std::string_view path : {"/forever", "/endless"}) {
    Client client = server().connect();
    client.send(get(path));
    wait_until_alive(1);
    client.reset();
    wait_until_alive(0);
  }
  Client client = server().connect();
  client.send("POST /wait-for-body HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n123");
  wait_until_alive(1);
  client.reset();
  wait_until_alive(0);
  EXPECT_EQ(server()->counters().handlers_cancelled, 3U);
}

TEST_P(CoroutineEnds, AreDroppedWhenTheBodyEndsEarly) {
  Client client = server().connect();
  client.send("POST /wait-for-body HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n123");
  wait_until_alive(1);
  client.end();
  EXPECT_TRUE(testing::says_truncated(client));
  wait_until_alive(0);
}

TEST_P(CoroutineEnds, FinishForAClientThatHasClosedItsSide) {
  Client client = server().connect();
  client.send(get("/later/1") + get("/later/2"));
  client.end();
  EXPECT_EQ(client.answer()->body, "later 1");
  EXPECT_EQ(client.answer()->body, "later 2");
  EXPECT_TRUE(client.is_closed());
}

TEST_P(CoroutineEnds, AreDroppedByAServerThatGoes) {
  Client client = server().connect();
  client.send(get("/forever"));
  wait_until_alive(1);
  server_.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_P(CoroutineEnds, FinishWhileTheServerDrains) {
  std::atomic<bool> has_begun{false};
  router_.get("/begun", [&has_begun]() -> Task<std::string> {
    has_begun = true;
    co_await sleep(20ms);
    co_return "finished";
  });
  Client client = server().connect();
  client.send(get("/begun"));
  while (!has_begun) std::this_thread::yield();
  server()->shutdown(20s);
  EXPECT_EQ(client.answer()->body, "finished");
}

TEST_P(CoroutineEnds, AreCutWhenTheBodyStallsButNotWhileTheyWork) {
  TestWorker worker(router_, GetParam(), options_);
  Client busy = worker.connect();
  busy.send(get("/forever"));
  worker.settle();
  Client stalled = worker.connect();
  stalled.send("POST /wait-for-body HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n123");
  worker.settle();
  EXPECT_EQ(alive_, 2);
  worker.advance(29s);
  EXPECT_FALSE(worker.is_readable(stalled));
  worker.advance(2s);
  worker.turn_until_readable(stalled);
  EXPECT_EQ(stalled.answer()->status, 408);
  EXPECT_EQ(alive_, 1);
  worker.advance(10min);
  EXPECT_EQ(alive_, 1);
  EXPECT_FALSE(worker.is_readable(busy));
  worker.advance(1h);
  worker.turn_until_readable(busy);
  EXPECT_EQ(busy.answer()->body, "never");
}

TEST_P(CoroutineEnds, AStreamThatNobodyReadsIsCut) {
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/endless"));
  worker.settle();
  EXPECT_EQ(alive_, 1);
  worker.advance(29s);
  EXPECT_EQ(alive_, 1);
  worker.advance(32s);
  EXPECT_EQ(alive_, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, CoroutineEnds, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
