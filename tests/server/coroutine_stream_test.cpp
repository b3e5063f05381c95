// SPDX-License-Identifier: MIT
// Content that is generated while it is sent, on every back end.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "server/coroutine_server.hpp"
#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::post;
using testing::TestWorker;

class CoroutineStreams : public testing::CoroutineServer {};

TEST_P(CoroutineStreams, StreamInChunksWithTrailers) {
  Client client = server().connect();
  const Answer answer = ask(client, get("/ticks"));
  EXPECT_EQ(answer.body, "tick 0\ntick 1\ntick 2\n");
  EXPECT_EQ(answer.field("Transfer-Encoding"), testing::chunked());
  EXPECT_FALSE(answer.field("Content-Length"));
  EXPECT_EQ(answer.trailer("X-Request-Id"), "end");
  EXPECT_EQ(ask(client, get("/plain")).body, "plain");
}

TEST_P(CoroutineStreams, StreamToOldClientsUntilTheEnd) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: HTTP/1.0";
  Client client = server().connect();
  client.send("GET /ticks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string all = client.rest();
  EXPECT_EQ(all.find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\ntick 0\ntick 1\ntick 2\n")) << all;
}

TEST_P(CoroutineStreams, StreamNothingToHead) {
  Client client = server().connect();
  const Answer head = ask(client, "HEAD /ticks HTTP/1.1\r\nHost: t\r\n\r\n", true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(ask(client, "HEAD /sized HTTP/1.1\r\nHost: t\r\n\r\n", true).field("Content-Length"),
            "5");
  EXPECT_EQ(ask(client, get("/plain")).body, "plain");
}

TEST_P(CoroutineStreams, NeverMisframeAStream) {
  Client client = server().connect();
  const Answer sized = ask(client, get("/sized"));
  EXPECT_EQ(sized.field("Content-Length"), "5");
  EXPECT_EQ(sized.body, "12345");
  for (const std::string_view path : {"/short", "/long", "/breaks"}) {
    Client other = server().connect();
    other.send(get(path) + get("/plain"));
    EXPECT_FALSE(other.answer()) << path;
    if (testing::speaks_http2()) {  // only the stream has ended
      EXPECT_EQ(other.answer()->body, "plain");
      continue;
    }
    const std::string rest = other.rest();
    EXPECT_EQ(rest.find("\r\n0\r\n"), std::string::npos) << path;
    EXPECT_EQ(rest.find("plain\r\n\r\nplain"), std::string::npos) << path;
  }
  EXPECT_EQ(server()->counters().handler_failures, 3U);
}

TEST_P(CoroutineStreams, NothingIsWrittenBehindTheEndOfAStream) {
  struct Late {
    ~Late() {
      if (out != nullptr) static_cast<void>(out->write("too late"));
    }
    BodyWriter* out = nullptr;
  };
  router_.get("/late", [] {
    const auto late = std::make_shared<Late>();
    return Response::stream("text/plain", [late](BodyWriter& out) -> Task<> {
      late->out = &out;
      co_await out.write("in time");
    });
  });
  Client client = server().connect();
  EXPECT_EQ(ask(client, get("/late")).body, "in time");
  EXPECT_EQ(ask(client, get("/plain")).body, "plain");
}

TEST_P(CoroutineStreams, StreamsThatAreCutAreRecorded) {
  std::atomic<int> recorded{0};
  options_.hooks.on_response = [&recorded](const RequestRecord& record) {
    if (record.target == "/endless" && record.body_bytes > 0 && record.is_cut) ++recorded;
  };
  Client client = server().connect();
  client.send(get("/endless"));
  while (client.some().find("\r\n\r\n") == std::string::npos) {
  }
  client.some();
  client.reset();
  while (recorded != 1) std::this_thread::yield();
}

TEST_P(CoroutineStreams, StreamMuchToAClientThatReads) {
  Client client = server().connect();
  client.send(get("/much/20", "Connection: close\r\n"));
  const std::string all = client.rest();  // with its framing: 320 chunks
  EXPECT_GT(all.size(), 20U << 20);
  EXPECT_LT(all.size(), (20U << 20) + 10'000);
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n"));
}

TEST_P(CoroutineStreams, StreamBothWaysAtOnce) {
  Client client = server().connect();
  client.send("POST /duplex HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("3\r\ndef\r\n0\r\n\r\n" + get("/plain"));
  EXPECT_EQ(client.answer()->body, "abcdef");
  EXPECT_EQ(client.answer()->body, "plain");
}

TEST_P(CoroutineStreams, ABodyThatIsStillExpectedEndsWithAStreamThatHasNoContent) {
  router_.post("/empty", []() -> Task<Response> {
    Response response = Response::stream("text/plain", [](BodyWriter&) -> Task<> { co_return; });
    response.status(Status::NoContent);
    co_return response;
  });
  TestWorker worker(router_, GetParam(), options_);
  for (const std::string_view fields :
       {"Content-Length: 9\r\nExpect: 100-continue\r\n", "Content-Length: 99999999\r\n",
        "Transfer-Encoding: chunked\r\n"}) {
    Client client = worker.connect();
    client.send(std::string("POST /empty HTTP/1.1\r\nHost: t\r\n").append(fields) + "\r\n");
    worker.turn_until_readable(client);
    const std::optional<Answer> answer = client.answer(true);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 204);
    EXPECT_TRUE(testing::says_last(*answer)) << fields;
    worker.settle();
    EXPECT_NE(worker.is_readable(client), testing::speaks_http2()) << fields;
  }
}

TEST_P(CoroutineStreams, AStreamThatReadsHasThePeerContinueBeforeIts200) {
  TestWorker worker(router_, GetParam(), options_);
  const std::string head =
      "POST /duplex HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  Client client = worker.connect();
  client.send(head);
  worker.turn_until_readable(client);
  EXPECT_EQ(client.answer(true)->status, 100);
  client.send("body");
  worker.settle();
  EXPECT_EQ(client.answer()->body, "body");
  Client silent = worker.connect();
  silent.send(head);
  worker.settle();
  worker.advance(29s);
  EXPECT_EQ(worker.counters().handlers_cancelled, 0U);
  worker.advance(3s);
  EXPECT_EQ(worker.counters().handlers_cancelled, 1U);
}

TEST_P(CoroutineStreams, WhatADestructorWritesPastTheToldLengthGoesNowhere) {
  if (testing::speaks_http2())
    GTEST_SKIP() << "HTTP/1 only: a socket pair that was read has no reset";
  struct Late {
    ~Late() {
      if (out != nullptr) static_cast<void>(out->write("too late"));
    }
    BodyWriter* out = nullptr;
  };
  router_.get("/late", [] {
    return Response::stream(
        "text/plain",
        [](BodyWriter& out) -> Task<> {
          Late late;
          late.out = &out;
          co_await out.write("in");
          co_await sleep(1h);
        },
        4);
  });
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/late"));
  worker.turn_until_readable(client);
  client.reset();
  worker.turn_until([&] { return worker.counters().handlers_cancelled == 1; });
}

INSTANTIATE_TEST_SUITE_P(Backends, CoroutineStreams, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
