// SPDX-License-Identifier: MIT
// Handlers that read the content of their request while it arrives, on every back end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "server/coroutine_server.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::post;
using testing::TestWorker;

class CoroutineBodies : public testing::CoroutineServer {};

TEST_P(CoroutineBodies, ReadABodyHoweverItIsSent) {
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

TEST_P(CoroutineBodies, ReadALargeBodyWithBackPressure) {
  Client client = server().connect();
  const std::string body(5'000'000, 'b');
  EXPECT_EQ(ask(client, post("/count", body)).body, "5000000 -");
  EXPECT_EQ(ask(client, post("/echo", body)).body, body);
}

// It would be empty, which looks like a request without content.
TEST_P(CoroutineBodies, AreTakenOnce) {
  router_.post("/twice", [](Request& request) -> Task<std::string> {
    std::string first = co_await request.text();
    std::string second = co_await request.text();
    co_return first + second;
  });
  router_.post("/loaded", [](Request& request) -> Task<std::string> {
    std::string_view first = co_await request.load();
    std::string second = co_await request.text();
    co_return std::string(first) + second;
  });
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/twice", "x")).status, 500);
  EXPECT_EQ(ask(client, post("/twice", "")).body, "") << "there is nothing to lose";
  EXPECT_EQ(ask(client, post("/loaded", "x")).body, "xx");
}

TEST_P(CoroutineBodies, RefuseABodyOverTheLimitOfItsReader) {
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/small", "12345678901")).status, 413);
  EXPECT_EQ(ask(client, post("/small", "1234567890")).body, "1234567890");
}

TEST_P(CoroutineBodies, RefuseALongBodyBeforeItIsSent) {
  for (const std::string_view fields : {"", "Expect: 100-continue\r\n"}) {
    Client client = server().connect();
    client.send(std::string("POST /small HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\n")
                    .append(fields)
                    .append("\r\n"));
    EXPECT_EQ(client.answer()->status, 413) << fields;
  }
}

TEST_P(CoroutineBodies, RefuseABodyOverTheLimitOfTheServer) {
  options_.limits.streamed_body_bytes = 1000;
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/count", std::string(1001, 'x'))).status, 413);
  Client chunked = server().connect();
  chunked.send("POST /count HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
               std::string(1001, 'x'));
  EXPECT_EQ(chunked.answer()->status, 413);
  EXPECT_TRUE(chunked.is_closed_by_refusal());
}

TEST_P(CoroutineBodies, SendContinueOnlyWhenTheBodyIsWanted) {
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
  EXPECT_TRUE(testing::says_last(*early));
}

TEST_P(CoroutineBodies, AnswerBeforeTheBodyHasArrived) {
  Client client = server().connect();
  client.send("POST /early HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_EQ(client.answer()->body, "early");
  client.send("67890" + get("/plain"));  // short enough to be read and dropped
  EXPECT_EQ(client.answer()->body, "plain");
  client.send("POST /early HTTP/1.1\r\nHost: t\r\nContent-Length: 9999999\r\n\r\n12345");
  const std::optional<Answer> early = client.answer();
  ASSERT_TRUE(early);
  EXPECT_TRUE(testing::says_last(*early));
}

TEST_P(CoroutineBodies, SaveABodyToAFile) {
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
            500);
  client.send("PUT /save HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\nab");
  client.end();
  EXPECT_TRUE(testing::says_truncated(client));
  server_.reset();  // the last owner of the unfinished file
  const auto count = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  EXPECT_EQ(count, 1) << "an unfinished file was left behind";
}

TEST_P(CoroutineBodies, AnEndBehindAWholeBodyThatHasToWaitCutsNothing) {
  options_.limits.stream_bytes = 100;
  router_.post("/slow", [](Request& request) -> Task<std::string> {
    std::size_t bytes = 0;
    while (true) {
      co_await sleep(1ms);
      const std::optional<Bytes> piece = co_await request.read();
      if (!piece) break;
      bytes += piece->size();
    }
    co_return std::to_string(bytes);
  });
  std::string request("POST /slow HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10; ++i) request.append("64\r\n").append(100, 'c').append("\r\n");
  TestWorker worker(router_, GetParam(), options_);
  Client whole = worker.connect();
  whole.send(request + "0\r\n\r\n");
  whole.end();
  Client cut = worker.connect();
  cut.send(request + "64\r\nccc");
  cut.end();
  for (int i = 0; i < 20; ++i) worker.advance(2ms);
  ASSERT_TRUE(worker.is_readable(whole));
  EXPECT_EQ(whole.answer()->body, "1000");
  ASSERT_TRUE(worker.is_readable(cut)) << "it waits for bytes that cannot come";
  EXPECT_TRUE(testing::says_truncated(cut));
}

TEST_P(CoroutineBodies, ABodyThatIsCutBehindAnotherRequestIsRefusedAtOnce) {
  TestWorker worker(router_, GetParam(), options_);
  Client client = worker.connect();
  client.send(get("/later/1") + "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n123");
  client.end();
  worker.settle();
  for (int i = 0; i < 5; ++i) worker.advance(2ms);
  ASSERT_TRUE(worker.is_readable(client));
  EXPECT_EQ(client.answer()->body, "later 1");
  ASSERT_TRUE(worker.is_readable(client));
  EXPECT_TRUE(testing::says_truncated(client));
}

TEST_P(CoroutineBodies, AHandlerThatWasNotStartedIsNotCountedAsCancelled) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: chunks that are malformed";
  Client client = server().connect();
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n");
  EXPECT_EQ(client.answer()->status, 400);
  EXPECT_EQ(server()->counters().handlers_cancelled, 0U);
}

TEST_P(CoroutineBodies, AreReadEvenWhereNothingMayWait) {
  options_.limits.stream_bytes = 0;
  Client client = server().connect();
  EXPECT_EQ(ask(client, post("/echo", "some")).body, "some");
  EXPECT_EQ(ask(client, get("/ticks")).body, "tick 0\ntick 1\ntick 2\n");
}

INSTANTIATE_TEST_SUITE_P(Backends, CoroutineBodies, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
