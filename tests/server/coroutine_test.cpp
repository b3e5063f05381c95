// SPDX-License-Identifier: MIT
// Handlers that wait, as a client sees them over a real socket, on every back end.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;
using testing::TestWorker;

std::string post(std::string_view path, std::string_view body, std::string_view fields = {}) {
  std::string out("POST ");
  out.append(path).append(" HTTP/1.1\r\nHost: test\r\nContent-Length: ");
  out.append(std::to_string(body.size())).append("\r\n").append(fields).append("\r\n");
  return out.append(body);
}

/// Counts how many of it are alive: what a handler holds while it waits.
class Held {
 public:
  explicit Held(std::atomic<int>& count) noexcept : count_(&count) { ++count; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { --*count_; }

 private:
  std::atomic<int>* count_;
};

class Coroutines : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Coroutines() {
    add_answers();
    add_readers();
    add_streams();
    add_endless();
  }

  void add_answers() {
    router_.get("/now", []() -> Task<std::string> { co_return "now"; });
    router_.get("/later/{n}", [](int n) -> Task<std::string> {
      co_await sleep(1ms);
      co_return "later " + std::to_string(n);
    });
    router_.get("/plain", [] { return "plain"; });
    router_.get("/offload", []() -> Task<std::string> {
      const int answer = co_await offload([] { return 42; });
      co_return std::to_string(answer);
    });
    router_.get("/throws", []() -> Task<Response> {
      co_await yield();
      throw std::runtime_error("a secret");
    });
    router_.get("/teapot", []() -> Task<Response> {
      co_await yield();
      throw HttpError(Status(418), "short and stout");
    });
    router_.get("/view/{name}", [](Request& request, std::string_view name) -> Task<std::string> {
      co_await sleep(1ms);
      std::string out(name);
      out.append(" ").append(request.query("q").value_or("")).append(" ");
      out.append(request.header("X-Field").value_or("")).append(" ").append(request.path());
      co_return out;
    });
  }

  void add_readers() {
    router_.post("/echo", [](Request& request) -> Task<Response> {
      std::string body = co_await request.text();
      co_return Response(Status::Created, std::move(body));
    });
    router_.post("/count", [](Request& request) -> Task<std::string> {
      std::size_t bytes = 0;
      while (true) {
        const std::optional<Bytes> piece = co_await request.read();
        if (!piece) break;
        bytes += piece->size();
      }
      co_return std::to_string(bytes) + " " +
          std::string(request.trailer("X-Request-Id").value_or("-"));
    });
    router_.post("/small", [](Request& request) -> Task<std::string> {
      std::string body = co_await request.text(10);
      co_return body;
    });
    router_.post("/early", []() -> Task<std::string> { co_return "early"; });
  }

  void add_streams() {
    router_.get("/ticks", [] {
      return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
        for (int i = 0; i < 3; ++i) {
          co_await out.write("tick " + std::to_string(i) + "\n");
          co_await sleep(1ms);
        }
        out.trailer("X-Request-Id", "end");
      });
    });
    router_.get("/sized", [] {
      return Response::stream(
          "text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("12345"); }, 5);
    });
    router_.get("/short", [] {
      return Response::stream(
          "text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("1234"); }, 5);
    });
    router_.get("/long", [] {
      return Response::stream(
          "text/plain", [](BodyWriter& out) -> Task<> { co_await out.write("123456"); }, 5);
    });
    router_.get("/breaks", [] {
      return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
        co_await out.write("begun");
        co_await yield();
        throw std::runtime_error("midway");
      });
    });
    router_.get("/much/{megabytes}", [](int megabytes) {
      return Response::stream("application/octet-stream", [megabytes](BodyWriter& out) -> Task<> {
        for (int i = 0; i < megabytes * 16; ++i) co_await out.write(std::string(65'536, 'm'));
      });
    });
    router_.post("/duplex", [](Request& request) -> Task<Response> {
      co_return Response::stream("text/plain", [&request](BodyWriter& out) -> Task<> {
        while (true) {
          const std::optional<Bytes> piece = co_await request.read();
          if (!piece) break;
          co_await out.write(*piece);
        }
      });
    });
  }

  void add_endless() {
    router_.get("/forever", [this]() -> Task<std::string> {
      const Held held(alive_);
      co_await sleep(1h);
      co_return "never";
    });
    router_.get("/endless", [this] {
      return Response::stream("text/plain", [this](BodyWriter& out) -> Task<> {
        const Held held(alive_);
        while (true) co_await out.write(std::string(10'000, 'e'));
      });
    });
    router_.post("/wait-for-body", [this](Request& request) -> Task<std::string> {
      const Held held(alive_);
      std::string text = co_await request.text();
      co_return text;
    });
  }

  TestServer& server() {
    if (!server_) server_ = std::make_unique<TestServer>(router_, GetParam(), options_);
    return *server_;
  }
  Answer ask(Client& client, std::string_view bytes, bool to_head = false) {
    client.send(bytes);
    const std::optional<Answer> answer = client.answer(to_head);
    EXPECT_TRUE(answer.has_value()) << bytes.substr(0, 60);
    return answer.value_or(Answer{});
  }
  void wait_until_alive(int count) {
    while (alive_ != count) std::this_thread::yield();
  }

  std::atomic<int> alive_{0};
  Router router_;
  ServerOptions options_;
  std::unique_ptr<TestServer> server_;
};

TEST_P(Coroutines, AnswerAtOnceOrLaterAndKeepTheConnection) {
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

TEST_P(Coroutines, ExceptionsBecomeResponses) {
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

TEST_P(Coroutines, AnswerPipelinedRequestsInOrder) {
  Client client = server().connect();
  client.send(get("/later/1") + get("/plain") + post("/echo", "two") + get("/later/3") +
              get("/now"));
  for (const std::string_view body : {"later 1", "plain", "two", "later 3", "now"}) {
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, body);
  }
}

TEST_P(Coroutines, KeepTheirViewsWhileOthersAreServed) {
  Client client = server().connect();
  Client other = server().connect();
  client.send(get("/view/a%20name?q=query%21", "X-Field: value\r\n"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(other, get("/plain")).body, "plain");
  EXPECT_EQ(client.answer()->body, "a name query! value /view/a name");
}

TEST_P(Coroutines, ReadABodyHoweverItIsSent) {
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/echo", "whole")).body, "whole");
  EXPECT_EQ(ask(client, post("/echo", "")).body, "");
  const std::string bytes = post("/echo", "byte by byte") + get("/plain");
  for (const char byte : bytes) client.send({&byte, 1});
  EXPECT_EQ(client.answer()->body, "byte by byte");
  EXPECT_EQ(client.answer()->body, "plain");
  EXPECT_EQ(ask(client,
                "POST /count HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5\r\n12345\r\n3\r\n678\r\n0\r\nX-Request-Id: seven\r\n\r\n")
                .body,
            "8 seven");
}

TEST_P(Coroutines, ReadALargeBodyWithBackPressure) {
  Client client = server().connect();
  const std::string body(5'000'000, 'b');
  EXPECT_EQ(ask(client, post("/count", body)).body, "5000000 -");
  EXPECT_EQ(ask(client, post("/echo", body)).body, body);
}

TEST_P(Coroutines, RefuseABodyOverTheLimitOfItsReader) {
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/small", "12345678901")).status, 413);
  EXPECT_EQ(ask(client, post("/small", "1234567890")).body, "1234567890");
}

TEST_P(Coroutines, RefuseABodyOverTheLimitOfTheServer) {
  options_.limits.streamed_body_bytes = 1000;
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/count", std::string(1001, 'x'))).status, 413);
  Client chunked = server().connect();
  chunked.send("POST /count HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n");
  EXPECT_EQ(chunked.answer()->status, 413);
  EXPECT_TRUE(chunked.is_closed());
}

TEST_P(Coroutines, SendContinueOnlyWhenTheBodyIsWanted) {
  Client client = server().connect();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 100);
  client.send("body");
  EXPECT_EQ(client.answer()->body, "body");
  client.send(
      "POST /early HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  const std::optional<Answer> early = client.answer();
  ASSERT_TRUE(early);
  EXPECT_EQ(early->body, "early");
  EXPECT_EQ(early->field("Connection"), "close");
}

TEST_P(Coroutines, AnswerBeforeTheBodyHasArrived) {
  Client client = server().connect();
  client.send("POST /early HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_EQ(client.answer()->body, "early");
  client.send("67890" + get("/plain"));  // short enough to be read and dropped
  EXPECT_EQ(client.answer()->body, "plain");
  client.send("POST /early HTTP/1.1\r\nHost: t\r\nContent-Length: 9999999\r\n\r\n12345");
  const std::optional<Answer> early = client.answer();
  ASSERT_TRUE(early);
  EXPECT_EQ(early->field("Connection"), "close");
}

TEST_P(Coroutines, StreamInChunksWithTrailers) {
  Client client = server().connect();
  const Answer answer = ask(client, get("/ticks"));
  EXPECT_EQ(answer.body, "tick 0\ntick 1\ntick 2\n");
  EXPECT_EQ(answer.field("Transfer-Encoding"), "chunked");
  EXPECT_FALSE(answer.field("Content-Length"));
  EXPECT_NE(answer.trailers.find("X-Request-Id: end"), std::string::npos);
  EXPECT_EQ(ask(client, get("/plain")).body, "plain");
}

TEST_P(Coroutines, StreamToOldClientsUntilTheEnd) {
  Client client = server().connect();
  client.send("GET /ticks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string all = client.rest();
  EXPECT_EQ(all.find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\ntick 0\ntick 1\ntick 2\n")) << all;
}

TEST_P(Coroutines, StreamNothingToHead) {
  Client client = server().connect();
  const Answer head = ask(client, "HEAD /ticks HTTP/1.1\r\nHost: t\r\n\r\n", true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(ask(client, "HEAD /sized HTTP/1.1\r\nHost: t\r\n\r\n", true).field("Content-Length"),
            "5");
  EXPECT_EQ(ask(client, get("/plain")).body, "plain");
}

TEST_P(Coroutines, NeverMisframeAStream) {
  Client client = server().connect();
  const Answer sized = ask(client, get("/sized"));
  EXPECT_EQ(sized.field("Content-Length"), "5");
  EXPECT_EQ(sized.body, "12345");
  for (const std::string_view path : {"/short", "/long", "/breaks"}) {
    Client other = server().connect();
    other.send(get(path) + get("/plain"));
    EXPECT_FALSE(other.answer()) << path;
    const std::string rest = other.rest();
    EXPECT_EQ(rest.find("\r\n0\r\n"), std::string::npos) << path;
    EXPECT_EQ(rest.find("plain\r\n\r\nplain"), std::string::npos) << path;
  }
  EXPECT_EQ(server()->counters().handler_failures, 3U);
}

TEST_P(Coroutines, NothingIsWrittenBehindTheEndOfAStream) {
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

TEST_P(Coroutines, StreamsThatAreCutAreRecorded) {
  std::atomic<int> recorded{0};
  options_.hooks.on_response = [&recorded](const RequestRecord& record) {
    if (record.target == "/endless" && record.body_bytes > 0) ++recorded;
  };
  Client client = server().connect();
  client.send(get("/endless"));
  wait_until_alive(1);
  client.reset();
  while (recorded != 1) std::this_thread::yield();
}

TEST_P(Coroutines, StreamMuchToAClientThatReads) {
  Client client = server().connect();
  client.send(get("/much/20", "Connection: close\r\n"));
  const std::string all = client.rest();  // with its framing: 320 chunks
  EXPECT_GT(all.size(), 20U << 20);
  EXPECT_LT(all.size(), (20U << 20) + 10'000);
  EXPECT_TRUE(all.ends_with("\r\n0\r\n\r\n"));
}

TEST_P(Coroutines, StreamBothWaysAtOnce) {
  Client client = server().connect();
  client.send("POST /duplex HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("3\r\ndef\r\n0\r\n\r\n" + get("/plain"));
  EXPECT_EQ(client.answer()->body, "abcdef");
  EXPECT_EQ(client.answer()->body, "plain");
}

TEST_P(Coroutines, AreDroppedWhenThePeerResets) {
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

TEST_P(Coroutines, AreDroppedWhenTheBodyEndsEarly) {
  Client client = server().connect();
  client.send("POST /wait-for-body HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n123");
  wait_until_alive(1);
  client.end();
  EXPECT_EQ(client.answer()->status, 400);
  wait_until_alive(0);
}

TEST_P(Coroutines, FinishForAClientThatHasClosedItsSide) {
  Client client = server().connect();
  client.send(get("/later/1") + get("/later/2"));
  client.end();
  EXPECT_EQ(client.answer()->body, "later 1");
  EXPECT_EQ(client.answer()->body, "later 2");
  EXPECT_TRUE(client.is_closed());
}

TEST_P(Coroutines, AreDroppedByAServerThatGoes) {
  Client client = server().connect();
  client.send(get("/forever"));
  wait_until_alive(1);
  server_.reset();
  EXPECT_EQ(alive_, 0);
}

TEST_P(Coroutines, FinishWhileTheServerDrains) {
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

TEST_P(Coroutines, SaveABodyToAFile) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.string() + "/saved";
  router_.put("/save", [path](Request& request) -> Task<Response> {
    const Result<std::uint64_t> size = co_await request.save(path);
    if (!size) co_return size.error();
    co_return std::to_string(*size);
  });
  router_.put("/nowhere", [path](Request& request) -> Task<Response> {
    const Result<std::uint64_t> size = co_await request.save(path + "/no/such/folder");
    if (!size) co_return size.error();
    co_return std::to_string(*size);
  });
  Client client = server().connect();
  const std::string body(300'000, 's');
  std::string request = post("/save", body);
  request.replace(0, 4, "PUT");
  EXPECT_EQ(ask(client, request).body, "300000");
  std::ifstream saved(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(saved), {}), body);
  EXPECT_EQ(ask(client, "PUT /nowhere HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nab").status,
            404);
  client.send("PUT /save HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\nab");
  client.end();
  EXPECT_EQ(client.answer()->status, 400);
  server_.reset();  // the last to hold the unfinished file
  const auto count = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  EXPECT_EQ(count, 1) << "an unfinished file was left behind";
}

TEST_P(Coroutines, GoAroundHandlersAsMiddleware) {
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

TEST_P(Coroutines, AreCutWhenTheBodyStallsButNotWhileTheyWork) {
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

TEST_P(Coroutines, AStreamThatNobodyReadsIsCut) {
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

INSTANTIATE_TEST_SUITE_P(Backends, Coroutines, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
