// SPDX-License-Identifier: MIT
// Every wait for a peer times out, with a response if the peer may still read. Uses a manual clock.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestWorker;

Router sample() {
  Router router;
  router.get("/", [] { return "hello"; });
  router.post("/echo", [](const Request& request) { return std::string(request.body()); });
  router.get("/big", [] { return std::string(32'000'000, 'x'); });
  return router;
}

class Timeout : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void expect_timeout(Client& client) {
    worker_.turn_until_readable(client);
    const auto answer = client.answer();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 408);
    EXPECT_TRUE(testing::says_last(*answer));
    EXPECT_EQ(worker_.counters().refused_slow, 1U);
  }
  // Returns once the worker has read everything.
  void send(Client& client, std::string_view bytes) {
    client.send(bytes);
    while (worker_.counters().bytes_received < client.sent_bytes()) (*worker_).run_once(10ms);
  }

  Router router_ = sample();
  TestWorker worker_{router_, GetParam()};
  Client client_ = worker_.connect();
};

TEST_P(Timeout, AnIdleConnectionIsClosed) {
  ASSERT_TRUE(worker_.ask(client_, get("/")));
  worker_.advance(74s);
  EXPECT_FALSE(TestWorker::is_readable(client_));
  worker_.advance(2s);
  worker_.turn_until_readable(client_);
  EXPECT_TRUE(client_.is_closed());
}

TEST_P(Timeout, AConnectionThatNeverSpeaksIsClosed) {
  worker_.settle();
  worker_.advance(11s);
  worker_.turn_until_readable(client_);
  EXPECT_TRUE(client_.is_closed());
}

TEST_P(Timeout, AHeadHasTenSecondsInAll) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: heads in pieces";
  ASSERT_TRUE(worker_.ask(client_, get("/")));
  send(client_, "GET / HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 4; ++i) {
    worker_.advance(2400ms);
    EXPECT_FALSE(TestWorker::is_readable(client_));
    send(client_, "X: y\r\n");  // dripping does not help
  }
  worker_.advance(500ms);
  expect_timeout(client_);
}

TEST_P(Timeout, ABodyMayPauseThirtySeconds) {
  send(client_, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  send(client_, std::string(90'000, 'x'));
  worker_.advance(29s);
  send(client_, std::string(5'000, 'x'));
  EXPECT_FALSE(TestWorker::is_readable(client_));
  worker_.advance(31s);
  expect_timeout(client_);
}

TEST_P(Timeout, ABodyThatDripsIsTooSlow) {
  send(client_, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 9; ++i) {
    worker_.advance(1s);
    send(client_, "x");
    EXPECT_FALSE(TestWorker::is_readable(client_));
  }
  worker_.advance(2s);
  send(client_, "x");
  expect_timeout(client_);
}

TEST_P(Timeout, APeerThatTakesNothingIsClosed) {
  if (testing::speaks_http2())
    GTEST_SKIP() << "HTTP/1 only: a peer of HTTP/2 stalls a stream, not the connection";
  send(client_, get("/big"));
  worker_.settle();
  worker_.advance(29s);
  EXPECT_EQ(worker_.counters().connections_open, 1U);
  send(client_, get("/"));  // asking for more does not count as reading
  worker_.advance(2s);
  worker_.settle();
  EXPECT_EQ(worker_.counters().connections_open, 0U);
}

TEST_P(Timeout, AnOldConnectionIsToldToGo) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: Connection: close";
  for (int i = 0; i < 70; ++i) {
    const auto answer = worker_.ask(client_, get("/"));
    ASSERT_TRUE(answer.has_value());
    if (answer->field("Connection") == "close") {
      EXPECT_GE(i, 53);
      return;
    }
    worker_.advance(59s);
  }
  FAIL() << "the connection is older than the maximum age plus a tenth";
}

TEST_P(Timeout, LingeringEnds) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: an invalid request line";
  send(client_, "nonsense\r\n\r\n");
  worker_.turn_until_readable(client_);
  EXPECT_EQ(client_.answer()->status, 400);
  EXPECT_EQ(worker_.counters().connections_open, 1U);
  worker_.advance(3s);
  worker_.settle();
  EXPECT_EQ(worker_.counters().connections_open, 0U);
}

// A reset would lose the response for a peer that sends all of its content before it reads.
TEST_P(Timeout, LingeringTakesWhateverIsStillSent) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: the connection ends with the refusal";
  send(client_, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n");
  const std::string piece(65'536, 'x');
  for (int i = 0; i < 64; ++i) send(client_, piece);
  EXPECT_EQ(client_.answer()->status, 413);
  EXPECT_EQ(client_.rest(), "");
  EXPECT_FALSE(client_.was_reset());
}

// Near the limit of connections -------------------------------------------------------------------

class IdleUnderPressure : public ::testing::Test {
 protected:
  /// Returns after how many seconds the last of `open` connections is closed, of at most `cap`.
  static int closed_after(std::size_t cap, std::size_t open, const ServerOptions& given) {
    ServerOptions options = given;
    options.limits.connections = cap;
    const Router router = sample();
    TestWorker worker(router, BackendChoice::Poll, options);
    std::vector<Client> clients;
    for (std::size_t i = 0; i < open; ++i) clients.push_back(worker.connect());
    for (Client& client : clients) EXPECT_TRUE(worker.ask(client, get("/")));
    for (int seconds = 0; seconds < 200; ++seconds) {
      if (TestWorker::is_readable(clients.back())) return seconds;
      worker.advance(1s);
    }
    return 0;
  }
};

TEST_F(IdleUnderPressure, TheShorterTimeHoldsAboveFourFifths) {
  struct Row {
    std::size_t cap;
    std::size_t open;
    Duration idle;
    int closed_after;
  };
  const Row rows[] = {
      {1, 1, 75s, 16},    {2, 1, 75s, 76},    {2, 2, 75s, 16},  {3, 2, 75s, 76},
      {4, 3, 75s, 76},    {4, 4, 75s, 16},    {5, 4, 75s, 76},  {5, 5, 75s, 16},
      {9, 7, 75s, 76},    {9, 8, 75s, 16},    {10, 8, 75s, 76}, {10, 9, 75s, 16},
      {100, 80, 75s, 76}, {100, 81, 75s, 16}, {10, 9, 5s, 6},   {10, 5, 5s, 6},
  };
  for (const Row& row : rows) {
    ServerOptions options;
    options.timeouts.idle = row.idle;
    // Timers are accurate to a tick.
    EXPECT_NEAR(closed_after(row.cap, row.open, options), row.closed_after, 1)
        << row.open << " of " << row.cap;
  }
}

TEST_F(IdleUnderPressure, ConnectionsOfProxiesKeepTheirTime) {
  ServerOptions options;
  options.trusted_proxies = std::make_shared<TrustedProxies>(
      ProxyRules{.networks = parse_networks("127.0.0.0/8").value(), .unix_sockets = true});
  EXPECT_NEAR(closed_after(10, 9, options), 76, 1);
}

TEST_F(IdleUnderPressure, ConnectionsOfClientsThatAPassingProxyNamesAreShortened) {
  ServerOptions options;
  options.trusted_proxies = std::make_shared<TrustedProxies>(
      ProxyRules{.networks = parse_networks("127.0.0.0/8").value(), .proxy_protocol = true});
  EXPECT_NEAR(closed_after(10, 9, options), 16, 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, Timeout, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
