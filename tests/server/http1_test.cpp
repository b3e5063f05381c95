// SPDX-License-Identifier: MIT
// Requests and responses over a real socket, on every back end.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;

Router sample() {
  Router router;
  router.get("/", [] { return "Hello, world!"; });
  router.get("/users/{id}", [](int id) { return "user " + std::to_string(id); });
  router.post("/echo", [](const Request& request) { return std::string(request.body()); });
  router.get("/big", [] { return std::string(3'000'000, 'x'); });
  router.get("/empty", [] { return Response(Status::NoContent); });
  router.get("/reset", [] { return Response(Status::ResetContent, "none of it is sent"); });
  router.get("/throws", []() -> Response { throw std::runtime_error("a secret"); });
  router.get("/teapot", []() -> Response { throw HttpError(Status(418), "short and stout"); });
  router.get("/interim", [] { return Response(Status::Continue); });
  router.get("/peer", [](const Request& request) { return request.peer(); });
  return router;
}

class Http1 : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router router_ = sample();
  TestServer server_{router_, GetParam()};
  Client client_ = server_.connect();

  Answer ask(std::string_view bytes, bool to_head = false) {
    client_.send(bytes);
    const std::optional<Answer> answer = client_.answer(to_head);
    EXPECT_TRUE(answer.has_value()) << bytes;
    return answer.value_or(Answer{});
  }
};

TEST_P(Http1, AnswersAndKeepsTheConnection) {
  for (int i = 0; i < 3; ++i) {
    const Answer answer = ask(get("/"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "Hello, world!");
    EXPECT_EQ(answer.field("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(answer.field("Content-Length"), "13");
    EXPECT_EQ(answer.field("Server"), "skua");
    EXPECT_EQ(answer.field("Date").value_or("").size(), 29U);
    EXPECT_FALSE(answer.field("Connection"));
  }
  EXPECT_EQ(server_->counters().connections_accepted, 1U);
}

TEST_P(Http1, AnswersThreePipelinedRequestsWithOneWrite) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: pipelining";
  ask(get("/"));
  const std::uint64_t sends = server_->counters().send_calls;
  client_.send(get("/users/1") + get("/users/2") + get("/users/3"));
  EXPECT_EQ(client_.answer()->body, "user 1");
  EXPECT_EQ(client_.answer()->body, "user 2");
  EXPECT_EQ(client_.answer()->body, "user 3");
  // io_uring submits a send with the system call that waits.
  EXPECT_EQ(server_->counters().send_calls - sends, GetParam() == BackendChoice::IoUring ? 0U : 1U);
}

TEST_P(Http1, AnswersHeadWithTheLengthAndNoBody) {
  const Answer answer = ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", true);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("Content-Length"), "13");
  EXPECT_EQ(ask(get("/")).body, "Hello, world!");
}

TEST_P(Http1, AnswersOptionsAndOtherMethodsWithAllow) {
  const Answer options = ask("OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.field("Allow"), "GET, HEAD, OPTIONS");
  const Answer all = ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(all.status, 204);
  const Answer other = ask("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(other.status, 405);
  EXPECT_EQ(other.field("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(ask(get("/nowhere")).status, 404);
  EXPECT_EQ(ask(get("/users/seven")).status, 404);
}

TEST_P(Http1, ReadsBodiesOfBothFramings) {
  EXPECT_EQ(ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello").body, "hello");
  EXPECT_EQ(ask("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n")
                .body,
            "hello world");
  EXPECT_EQ(ask(get("/")).status, 200);
}

TEST_P(Http1, ReadsABodyThatComesInPieces) {
  const std::string body(1'000'000, 'b');
  client_.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  for (std::size_t at = 0; at < body.size(); at += 9973)
    client_.send(std::string_view(body).substr(at, 9973));
  EXPECT_EQ(client_.answer()->body, body);
}

TEST_P(Http1, ReadsARequestThatComesByteByByte) {
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + get("/users/7");
  for (const char c : request) client_.send({&c, 1});
  EXPECT_EQ(client_.answer()->body, "abc");
  EXPECT_EQ(client_.answer()->body, "user 7");
}

TEST_P(Http1, SaysContinueWhenTheHandlerWantsTheBody) {
  client_.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client_.answer()->status, 100);
  client_.send("ok");
  EXPECT_EQ(client_.answer()->body, "ok");
}

TEST_P(Http1, DoesNotSayContinueForABodyThatNobodyWants) {
  client_.send(
      "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  const Answer answer = *client_.answer();
  EXPECT_EQ(answer.status, 404);
  EXPECT_TRUE(testing::says_last(answer));
  EXPECT_TRUE(client_.is_closed_by_refusal());
}

TEST_P(Http1, RefusesOtherExpectations) {
  EXPECT_EQ(ask(get("/", "Expect: a-miracle\r\n")).status, 417);
  EXPECT_TRUE(client_.is_closed_by_refusal());
}

TEST_P(Http1, ReadsABodyThatNobodyWantsAndGoesOn) {
  client_.send("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  client_.send(std::string(1000, 'x'));
  EXPECT_EQ(client_.answer()->status, 404);
  EXPECT_EQ(ask(get("/")).status, 200);
}

TEST_P(Http1, RefusesABodyOverTheLimitBeforeItComes) {
  const Answer answer = ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10485761\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_TRUE(testing::says_last(answer));
}

TEST_P(Http1, TheAnswerToARefusedUploadIsNotLostInAReset) {
  client_.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n");
  client_.send(std::string(200'000, 'x'));  // in flight before the client sees the answer
  EXPECT_EQ(client_.answer()->status, 413);
  client_.end();
  client_.rest();
  EXPECT_FALSE(client_.was_reset());
}

TEST_P(Http1, ClosesWhenItIsAskedTo) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: Connection: close";
  const Answer answer = ask(get("/", "Connection: close\r\n"));
  EXPECT_EQ(answer.field("Connection"), "close");
  EXPECT_TRUE(client_.is_closed());
}

TEST_P(Http1, Http10ClosesUnlessItIsAskedToStay) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: HTTP/1.0";
  const Answer stays = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(stays.field("Connection"), "keep-alive");
  const Answer closes = ask("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(closes.status, 200);
  EXPECT_TRUE(client_.is_closed());
}

TEST_P(Http1, AnswersAPeerThatHasClosedItsSide) {
  client_.send(get("/users/1") + get("/users/2"));
  client_.end();
  EXPECT_EQ(client_.answer()->body, "user 1");
  EXPECT_EQ(client_.answer()->body, "user 2");
  EXPECT_TRUE(client_.is_closed());
}

TEST_P(Http1, SaysThatABodyWasTruncated) {
  client_.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  client_.end();
  EXPECT_TRUE(testing::says_truncated(client_));
  EXPECT_TRUE(client_.is_closed());
}

TEST_P(Http1, SendsALargeBodyToAPeerThatReadsLate) {
  client_.send(get("/big") + get("/"));
  EXPECT_EQ(client_.answer()->body.size(), 3'000'000U);
  EXPECT_EQ(client_.answer()->body, "Hello, world!");
}

TEST_P(Http1, ResponsesWithoutContentHaveNoLength) {
  const Answer answer = ask(get("/empty"));
  EXPECT_EQ(answer.status, 204);
  EXPECT_FALSE(answer.field("Content-Length"));
  EXPECT_EQ(ask(get("/")).status, 200);
}

TEST_P(Http1, ResetContentHasNone) {
  const Answer answer = ask(get("/reset"));
  EXPECT_EQ(answer.status, 205);
  EXPECT_EQ(answer.field("Content-Length"), "0");
  EXPECT_EQ(ask(get("/")).body, "Hello, world!");
}

TEST_P(Http1, AnExceptionIsFiveHundredAndSaysNoMore) {
  const Answer answer = ask(get("/throws"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body.find("secret"), answer.body.npos);
  EXPECT_EQ(ask(get("/")).status, 200);
  EXPECT_EQ(server_->counters().handler_failures, 1U);
  const Answer meant = ask(get("/teapot"));
  EXPECT_EQ(meant.status, 418);
  EXPECT_EQ(meant.body, "short and stout");
  EXPECT_EQ(ask(get("/interim")).status, 500);
}

TEST_P(Http1, TellsTheHandlerWhoAsks) {
  EXPECT_TRUE(ask(get("/peer")).body.starts_with("127.0.0.1:"));
}

TEST_P(Http1, HasNoUseForConnect) {
  EXPECT_EQ(ask("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n").status, 501);
  EXPECT_TRUE(client_.is_closed_by_refusal());
}

TEST_P(Http1, ThePathIsDecodedOnce) {
  EXPECT_EQ(ask(get("/%75sers/%37")).body, "user 7");
  EXPECT_EQ(ask(get("//users/./x/../7")).body, "user 7");
  EXPECT_EQ(ask(get("/%2575sers/7")).status, 404);
  EXPECT_EQ(ask(get("/a%2fb")).status, 400);
}

INSTANTIATE_TEST_SUITE_P(Backends, Http1, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
