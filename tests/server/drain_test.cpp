// SPDX-License-Identifier: MIT
// Responses to a peer that has sent several requests when the server drains.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;
using testing::TestWorker;

constexpr auto patience = std::chrono::seconds(60);

void await_state(Server& server, ServerState state) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (server.state() != state && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(server.state(), state);
}

class Drain : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router router_ = [] {
    Router router;
    router.get("/{id}", [](const Request& request) { return std::string(request.path()); });
    return router;
  }();
};

TEST_P(Drain, AnswersAllRequestsThatWerePipelined) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: pipelining";
  TestWorker worker(router_, GetParam());
  Client client = worker.connect();
  (*worker).begin_drain();
  worker.settle();
  client.send(get("/1") + get("/2") + get("/3"));
  worker.turn_until_readable(client);
  for (const char* path : {"/1", "/2"}) {
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, path);
    EXPECT_FALSE(answer->field("Connection"));
  }
  const auto last = client.answer();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->body, "/3");
  EXPECT_EQ(last->field("Connection"), "close");
}

TEST_P(Drain, AHeadThatDoesNotGoOnIsNotWaitedFor) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: half a request line";
  TestWorker worker(router_, GetParam());
  Client silent = worker.connect();
  Client slow = worker.connect();
  for (Client* const client : {&silent, &slow}) {
    client->send("GET /1 HTT");
    worker.settle();
  }
  worker.advance(1s);
  (*worker).begin_drain();
  worker.settle();
  for (const char* piece : {"P/1.1\r\n", "Host: t\r\n", "\r\n"}) {
    worker.advance(30ms);
    slow.send(piece);
    worker.settle();
  }
  worker.turn_until_readable(silent);
  EXPECT_TRUE(silent.is_closed());
  worker.turn_until_readable(slow);
  const auto answer = slow.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "/1");
}

TEST_P(Drain, AHeadThatDripsKeepsItsDeadline) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: half a head";
  TestWorker worker(router_, GetParam());
  Client client = worker.connect();
  client.send("GET /1 HTTP/1.1\r\nHost: t\r\nX: ");
  worker.settle();
  worker.advance(4s);
  (*worker).begin_drain();
  worker.settle();
  int drips = 0;
  for (; drips < 400 && worker.counters().connections_open != 0; ++drips) {
    worker.advance(40ms);
    if (worker.counters().connections_open != 0) client.send("x");
    worker.settle();
  }
  ASSERT_NEAR(drips, 150, 5) << "the rest of ten seconds";
  worker.turn_until_readable(client);
  EXPECT_TRUE(client.is_closed());
}

TEST_P(Drain, WaitsForTheRestOfARequestBehindOthers) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: pipelining";
  TestWorker worker(router_, GetParam());
  Client client = worker.connect();
  (*worker).begin_drain();
  worker.settle();
  client.send(get("/1") + "GET /2 HTTP/1.1\r\n");
  worker.turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "/1");
  const auto last = worker.ask(client, "Host: a\r\n\r\n");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->body, "/2");
  EXPECT_EQ(last->field("Connection"), "close");
}

class DrainDelay : public Drain {
 protected:
  static ServerOptions delayed(Duration delay) {
    ServerOptions options{.threads = 2};
    options.timeouts.drain_delay = delay;
    return options;
  }
  static std::string ask(const TestServer& server) {
    Client client = server.connect();
    client.send(get("/served"));
    const auto answer = client.answer();
    if (!answer) return "no answer";
    return answer->body + (answer->field("Connection") ? " and close" : "");
  }
};

TEST_P(DrainDelay, GoesOnServingWhileTheServerIsNotReady) {
  TestServer server(router_, GetParam(), delayed(std::chrono::hours(1)));
  EXPECT_TRUE(server->is_ready());
  std::optional<Client> kept(server.connect());
  auto ended = std::async(std::launch::async, [&] { server->shutdown(); });
  await_state(*server, ServerState::Leaving);
  EXPECT_FALSE(server->is_ready());
  EXPECT_EQ(ask(server), "/served");
  for (int i = 0; i < 3; ++i) {
    kept->send(get("/kept"));
    EXPECT_EQ(kept->answer()->body, "/kept");
  }
  kept.reset();
  server->shutdown();  // skips the rest of the delay
  EXPECT_EQ(server->state(), ServerState::Ended);
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
}

TEST_P(DrainDelay, IsFollowedByTheDrain) {
  TestServer server(router_, GetParam(), delayed(5ms));
  server->shutdown();
  EXPECT_EQ(server->state(), ServerState::Ended);
  EXPECT_TRUE(server->start()) << "again";
  EXPECT_TRUE(server->is_ready());
}

TEST_P(DrainDelay, IsSkippedByAnImmediateEnd) {
  TestServer server(router_, GetParam(), delayed(std::chrono::hours(1)));
  server->cancel();
  server->wait();
  ASSERT_TRUE(server->start());
  server->shutdown(Duration::zero());
  ASSERT_TRUE(server->start());
  auto ended = std::async(std::launch::async, [&] { server->shutdown(); });
  await_state(*server, ServerState::Leaving);
  server->cancel();
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(Backends, DrainDelay, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

INSTANTIATE_TEST_SUITE_P(Backends, Drain, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
