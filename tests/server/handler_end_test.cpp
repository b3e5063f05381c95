// SPDX-License-Identifier: MIT
// Handler timeouts, handlers whose peer has left, handlers that end their connection, and timeouts
// that mean "never".
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "skua.hpp"
#include "support/test_worker.hpp"
#include "support/tls_wire.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;
using testing::TlsWire;
using testing::Transport;

class HandlerEnds : public ::testing::TestWithParam<BackendChoice> {
 protected:
  HandlerEnds() {
    router_.get("/", [] { return "hello"; });
    router_.get("/after/{ms}", [this](int ms) -> Task<std::string> {
      const std::shared_ptr<void> held(&++alive_, [](int* alive) { --*alive; });
      co_await sleep(std::chrono::milliseconds(ms));
      co_return "done";
    });
    router_.get("/ticks", [this] {
      return Response::stream("text/plain", [this](BodyWriter& out) -> Task<> {
        const std::shared_ptr<void> held(&++alive_, [](int* alive) { --*alive; });
        for (int i = 0; i < 10; ++i) {
          co_await out.write("tick");
          co_await sleep(3s);
        }
      });
    });
    router_.get("/close", [] { return Response("bye").header("Connection", "close"); });
    router_.get("/close-later", []() -> Task<Response> {
      co_await yield();
      Response response("bye");
      response.header("connection", "Close");
      co_return response;
    });
    router_.get("/close-stream", [] {
      return Response::stream("text/plain",
                              [](BodyWriter& out) -> Task<> { co_await out.write("bye"); })
          .header("Connection", "close");
    });
    router_.get("/close-prepared", PreparedResponse(Response("bye").header("Connection", "close")));
    router_.get("/stay", [] { return Response("stay").header("Connection", "keep-alive"); });
  }

  TestWorker& worker() {
    if (worker_ == nullptr) worker_ = std::make_unique<TestWorker>(router_, GetParam(), options_);
    return *worker_;
  }
  void send(Client& client, std::string_view bytes) {
    client.send(bytes);
    while (worker().counters().bytes_received < client.sent_bytes()) (*worker()).run_once(10ms);
    worker().settle();
  }

  int alive_ = 0;
  Router router_;
  ServerOptions options_;
  std::unique_ptr<TestWorker> worker_;
};

TEST_P(HandlerEnds, AnswerNothingInTimeIs503) {
  options_.timeouts.handler = 2s;
  Client client = worker().connect();
  send(client, get("/after/60000"));
  EXPECT_EQ(alive_, 1);
  worker().advance(1900ms);
  EXPECT_FALSE(worker().is_readable(client));
  worker().advance(200ms);
  worker().turn_until_readable(client);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
  EXPECT_EQ(worker().counters().refused_malformed, 0U);
  if (!testing::speaks_http2()) {
    EXPECT_EQ(answer->field("Connection"), "close");
  }
}

TEST_P(HandlerEnds, AHandlerThatIsInTimeIsLeftAlone) {
  options_.timeouts.handler = 2s;
  Client client = worker().connect();
  send(client, get("/after/1000"));
  worker().advance(1100ms);
  worker().turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "done");
  send(client, get("/ticks"));  // its head counts as the response
  worker().advance(3s);
  EXPECT_EQ(alive_, 1);
  worker().advance(20s);
  EXPECT_EQ(alive_, 1);
}

TEST_P(HandlerEnds, NoHandlerIsTimedUnlessToldSo) {
  Client client = worker().connect();
  send(client, get("/after/86400000"));
  worker().advance(24h - 1s);
  EXPECT_EQ(alive_, 1);
  worker().advance(2s);
  worker().turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "done");
}

TEST_P(HandlerEnds, AClientThatClosedItsSideIsNotWaitedForForLong) {
  Client client = worker().connect();
  send(client, get("/after/60000"));
  client.end();
  worker().settle();
  worker().advance(4s);
  EXPECT_EQ(alive_, 1);
  worker().advance(2s);
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
  worker().turn_until_readable(client);
  EXPECT_TRUE(client.is_closed());
}

TEST_P(HandlerEnds, AClientThatClosedItsSideGetsWhatComesInTime) {
  Client client = worker().connect();
  send(client, get("/after/3000"));
  client.end();
  worker().settle();
  worker().advance(3100ms);
  worker().turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "done");
}

TEST_P(HandlerEnds, AHandlerTimeoutDoesNotPutOffAClientThatIsGone) {
  options_.timeouts.handler = 30s;
  Client client = worker().connect();
  send(client, get("/after/60000"));
  client.end();
  worker().settle();
  worker().advance(6s);
  EXPECT_EQ(alive_, 0);
}

TEST_P(HandlerEnds, AClientThatClosedItsSideMayReadAStream) {
  Client client = worker().connect();
  send(client, get("/ticks"));
  client.end();
  worker().settle();
  for (int i = 0; i < 9; ++i) {
    worker().advance(3100ms);
    EXPECT_EQ(alive_, 1) << i;
  }
}

TEST_P(HandlerEnds, AHandlerMayEndItsConnection) {
  for (const std::string_view path :
       {"/close", "/close-later", "/close-stream", "/close-prepared"}) {
    Client client = worker().connect();
    send(client, get("/"));
    ASSERT_EQ(client.answer()->body, "hello");
    send(client, get(path));
    worker().turn_until_readable(client);
    const auto answer = client.answer();
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 200) << path;
    EXPECT_EQ(answer->body, "bye") << path;
    if (!testing::speaks_http2()) {
      EXPECT_EQ(answer->field("Connection"), "close") << path;
    }
    worker().advance(60ms);  // over HTTP/2, for requests in flight
    worker().turn_until_readable(client);
    EXPECT_TRUE(client.is_closed()) << path;
  }
}

TEST_P(HandlerEnds, NothingElseIsAHandlersToSayOfTheConnection) {
  Client client = worker().connect();
  const auto answer = worker().ask(client, get("/stay"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
}

// Every timeout may be infinite: adding it to a point in time must not overflow.
TEST_P(HandlerEnds, EveryTimeoutMayBeForEver) {
  constexpr Duration never = Duration::max();
  options_.timeouts = {.handshake = never,
                       .head = never,
                       .body = never,
                       .body_grace = never,
                       .write = never,
                       .handler = never,
                       .half_closed = never,
                       .idle = never,
                       .idle_under_pressure = never,
                       .connection_age = never,
                       .linger = never,
                       .drain_grace = 50ms,
                       .shutdown = never};
  router_.post("/echo", [](const Request& request) { return std::string(request.body()); });
  router_.post("/load", [](Request& request) -> Task<std::string> {
    std::string text = co_await request.text();
    co_return text;
  });
  Client client = worker().connect();
  for (const std::string_view path : {"/echo", "/load"}) {
    worker().advance(24h * 365 * 7);
    const std::string head =
        "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab";
    send(client, head);
    worker().advance(24h * 365);
    ASSERT_FALSE(worker().is_readable(client)) << path;
    const auto answer = worker().ask(client, "cd");
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->body, "abcd");
    EXPECT_FALSE(answer->field("Connection")) << path;
  }
  send(client, get("/after/1000"));
  worker().advance(2s);
  worker().turn_until_readable(client);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "done");
}

TEST_P(HandlerEnds, LimitsMayBeAsLargeAsTheyGo) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {std::size_t{1} << 32U, most}) {
    ServerOptions options;
    options.limits = {.target_bytes = bytes,
                      .field_line_bytes = bytes,
                      .head_bytes = bytes,
                      .body_bytes = bytes,
                      .streamed_body_bytes = bytes,
                      .chunk_extension_bytes = bytes,
                      .trailer_bytes = bytes,
                      .unread_body_bytes = bytes,
                      .output_bytes = bytes,
                      .stream_bytes = bytes};
    router_ = {};
    router_.post("/{path...}", [](const Request& request) { return std::string(request.body()); });
    TestWorker worker(router_, GetParam(), options);
    Client client = worker.connect();
    const std::string path(20'000, 'a');
    const auto answer =
        worker.ask(client, "POST /%61" + path +
                               " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "2;name=value\r\nab\r\n0\r\nX-Trailer: value\r\n\r\n");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "ab");
  }
}

TEST_P(HandlerEnds, ADrainLetsHandshakesFinishThatHaveBegun) {
  if (!testing::is_secure()) GTEST_SKIP() << "TLS only";
  Client silent = worker().connect(Transport::Tcp);
  Client half = worker().connect(Transport::Tcp);
  TlsWire wire({"http/1.1"});
  half.send(wire.take_output());
  worker().turn_until_readable(half);  // the server waits for the client's second flight
  worker().settle();
  (*worker()).begin_drain();
  worker().settle();
  worker().advance(5s);
  EXPECT_TRUE(worker().is_readable(silent));
  EXPECT_TRUE(silent.is_closed());
  static_cast<void>(wire.read(half.take_received()));
  half.send(wire.take_output());
  worker().advance(20ms);
  wire.write(get("/"));
  half.send(wire.take_output());
  worker().settle();  // the handshake's tickets come first
  EXPECT_NE(wire.read(half.take_received()).find("hello"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, HandlerEnds, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
