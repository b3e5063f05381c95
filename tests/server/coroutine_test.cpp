// SPDX-License-Identifier: MIT
// Handlers that wait, as a client sees them over a real socket, on every back end: their responses,
// the order of these, and middleware.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "server/coroutine_server.hpp"
#include "skua.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::post;

class CoroutineHandlers : public testing::CoroutineServer {};

TEST_P(CoroutineHandlers, AnswerAtOnceOrLaterAndKeepTheConnection) {
  Client client = server().connect();
  EXPECT_EQ(ask(client, get("/now")).body, "now");
  EXPECT_EQ(ask(client, get("/later/7")).body, "later 7");
  EXPECT_EQ(ask(client, get("/later/x")).status, 404);
  EXPECT_EQ(ask(client, get("/offload")).body, "42");
  EXPECT_EQ(ask(client, "HEAD /later/7 HTTP/1.1\r\nHost: t\r\n\r\n", true).field("Content-Length"),
            "7");
  EXPECT_EQ(ask(client, get("/plain")).body, "plain");
  EXPECT_EQ(server()->counters().connections_accepted, 1U);
}

TEST_P(CoroutineHandlers, ExceptionsBecomeResponses) {
  std::string logged;
  options_.hooks.log = [&logged](LogLevel, std::string_view line) { logged.append(line); };
  Client client = server().connect();
  const Answer failed = ask(client, get("/throws"));
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body.find("secret"), std::string::npos);
  EXPECT_EQ(ask(client, get("/teapot")).status, 418);
  server_.reset();
  EXPECT_NE(logged.find("a secret"), std::string::npos);
}

TEST_P(CoroutineHandlers, TheReasonOfAnHttpErrorIsForTheLogOnly) {
  std::string logged;
  options_.hooks.log = [&logged](LogLevel, std::string_view line) {
    if (line.find("unreachable") != line.npos) logged.append(line);  // not of the server itself
  };
  router_.get("/unreachable", []() -> Response {
    throw HttpError(Status::BadGateway, "try again", "no route to 192.0.2.1");
  });
  Client client = server().connect();
  const Answer failed = ask(client, get("/unreachable?x"));
  EXPECT_EQ(failed.status, 502);
  EXPECT_EQ(failed.body, "try again");
  server_.reset();
  EXPECT_EQ(logged, "GET /unreachable?x: no route to 192.0.2.1");
}

TEST_P(CoroutineHandlers, AnHttpErrorMayFailToAmendItsResponse) {
  class Error final : public HttpError {
   public:
    using HttpError::HttpError;
    void amend(Response& response) const override { response.header("X-A", "two\nlines"); }
  };
  router_.get("/amended", []() -> Response { throw Error(Status::Conflict); });
  Client client = server().connect();
  EXPECT_EQ(ask(client, get("/amended")).status, 500);
  EXPECT_EQ(ask(client, get("/amended")).status, 500);
}

TEST_P(CoroutineHandlers, AnswerPipelinedRequestsInOrder) {
  Client client = server().connect();
  client.send(get("/later/1") + get("/plain") + post("/echo", "two") + get("/later/3") +
              get("/now"));
  for (const std::string_view body : {"later 1", "plain", "two", "later 3", "now"}) {
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, body);
  }
}

TEST_P(CoroutineHandlers, KeepTheirViewsWhileOthersAreServed) {
  Client client = server().connect();
  Client other = server().connect();
  client.send(get("/view/a%20name?q=query%21", "X-Field: value\r\n"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(other, get("/plain")).body, "plain");
  EXPECT_EQ(client.answer()->body, "a name query! value /view/a name");
}

TEST_P(CoroutineHandlers, GoAroundHandlersAsMiddleware) {
  Router inner;
  inner.get("/plain", [](const Request& request) { return std::string(request.body()) + "!"; });
  inner.post("/plain", [](const Request& request) { return std::string(request.body()) + "!"; });
  inner.get("/throws", []() -> Response { throw std::runtime_error("inner"); });
  inner.use([](Request& request, Next next) -> Task<Response> {
    Response response = co_await next(request);
    response.header("X-Inner", "yes");
    co_return response;
  });
  inner.use([](Request& request) -> std::optional<Response> {
    if (request.query("deny")) return Response(Status::Forbidden);
    return std::nullopt;
  });
  router_.use([](Request& request, Next next) -> Task<Response> {
    if (request.query("early")) co_return "early";
    co_await sleep(1ms);
    try {
      Response response = co_await next(request);
      response.header("X-Outer", std::string(response.header("X-Inner").value_or("no")));
      co_return response;
    } catch (const std::runtime_error& error) {
      co_return Response(Status::BadGateway, error.what());
    }
  });
  router_.mount("/inner", std::move(inner));
  Client client = server().connect();
  Answer answer = ask(client, post("/inner/plain", "body"));
  EXPECT_EQ(answer.body, "body!");
  EXPECT_EQ(answer.field("X-Outer"), "yes");
  EXPECT_EQ(ask(client, get("/inner/plain?early")).body, "early");
  answer = ask(client, get("/inner/plain?deny"));
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.field("X-Outer"), "yes");
  EXPECT_EQ(ask(client, get("/inner/throws")).status, 502);
  EXPECT_EQ(ask(client, get("/nowhere")).status, 404);
  EXPECT_EQ(ask(client, get("/now")).field("X-Outer"), "no");
  EXPECT_EQ(ask(client, get("/ticks")).body, "tick 0\ntick 1\ntick 2\n");
}

INSTANTIATE_TEST_SUITE_P(Backends, CoroutineHandlers, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
