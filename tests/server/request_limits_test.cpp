// SPDX-License-Identifier: MIT
// Limits of routes: they replace those of the server, for handlers of either kind. Uses a manual
// clock.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;

Router sample() {
  Router inner;
  inner.limits({.body_bytes = 20});
  inner.post("/", [](const Request& request) { return std::to_string(request.body().size()); });
  Router limited;
  limited.limits({.body_bytes = 8, .handler_timeout = 2s});
  limited.post("/plain", [](const Request& request) { return std::string(request.body()); });
  limited.post("/stream", [](Request& request) -> Task<std::string> {
    std::string all;
    while (const auto piece = co_await request.read()) all.append(text(*piece));
    co_return all;
  });
  limited.post("/text",
               [](Request& request) -> Task<std::string> { co_return co_await request.text(); });
  limited.get("/wait", []() -> Task<std::string> {
    co_await sleep(1h);
    co_return std::string("late");
  });
  limited.get("/left", [](Request& request) -> Task<std::string> {
    co_await sleep(500ms);
    co_return std::to_string(request.time_left() / 1ms);
  });
  limited.mount("/inner", std::move(inner));
  Router slow;
  slow.limits({.body_bytes_per_second = 0, .body_timeout = 5s});
  slow.post("/", [](const Request& request) { return std::string(request.body()); });
  Router router;
  router.mount("/slow", std::move(slow));
  router.post("/plain", [](const Request& request) { return std::string(request.body()); });
  router.get("/left", [](Request& request) -> Task<std::string> {
    co_return request.time_left() == Duration::max() ? "forever" : "not long";
  });
  router.get("/left_plain", [](const Request& request) {
    return request.time_left() == Duration::max() ? "forever" : "not long";
  });
  router.mount("/limited", std::move(limited));
  return router;
}

ServerOptions small_bodies() {
  ServerOptions options;
  options.limits.body_bytes = 10;
  return options;
}

class RequestLimitsOfServer : public ::testing::TestWithParam<BackendChoice> {
 protected:
  // Returns the status of a request with that much content, told in advance or not.
  int post(std::string_view path, std::size_t size, bool is_told = true) {
    Client client = worker_.connect();
    const std::string content(size, 'x');
    std::string request = "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n";
    if (is_told) {
      request += "Content-Length: " + std::to_string(size) + "\r\n\r\n" + content;
    } else {
      request += "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n" + hex(size - 1) + "\r\n" +
                 content.substr(1) + "\r\n0\r\n\r\n";
    }
    const auto answer = worker_.ask(client, request);
    EXPECT_TRUE(answer);
    return answer ? answer->status : 0;
  }
  static std::string hex(std::size_t number) {
    std::string digits;
    for (; number != 0; number /= 16)
      digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
    return digits;
  }

  Router router_ = sample();
  TestWorker worker_{router_, GetParam(), small_bodies()};
};

TEST_P(RequestLimitsOfServer, ContentMayBeAsLongAsTheRouteSays) {
  for (const bool is_told : {true, false}) {
    for (const char* path : {"/limited/plain", "/limited/stream", "/limited/text"}) {
      EXPECT_EQ(post(path, 8, is_told), 200) << path << is_told;
      EXPECT_EQ(post(path, 9, is_told), 413) << path << is_told;
      EXPECT_EQ(post(path, 1000, is_told), 413) << path << is_told;
    }
  }
}

TEST_P(RequestLimitsOfServer, ARouteMayTakeMoreThanTheOthers) {
  for (const bool is_told : {true, false}) {
    EXPECT_EQ(post("/plain", 10, is_told), 200) << is_told;
    EXPECT_EQ(post("/plain", 11, is_told), 413) << is_told;
    EXPECT_EQ(post("/limited/inner", 20, is_told), 200) << is_told;
    EXPECT_EQ(post("/limited/inner", 21, is_told), 413) << is_told;
  }
}

TEST_P(RequestLimitsOfServer, ContentMayPauseAsLongAsTheRouteSays) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: content in pieces";
  Client client = worker_.connect();
  client.send("POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n");
  worker_.settle();
  for (int i = 0; i < 4; ++i) {
    worker_.advance(4s);
    client.send("x");  // slower than Limits::body_bytes_per_second
    worker_.settle();
    EXPECT_FALSE(TestWorker::is_readable(client));
  }
  worker_.advance(6s);
  worker_.turn_until_readable(client);
  EXPECT_EQ(client.answer()->status, 408);
}

TEST_P(RequestLimitsOfServer, AHandlerMayTakeAsLongAsTheRouteSays) {
  Client client = worker_.connect();
  client.send(get("/limited/wait"));
  worker_.settle();
  worker_.advance(1s);
  EXPECT_FALSE(TestWorker::is_readable(client));
  worker_.advance(2s);
  worker_.turn_until_readable(client);
  EXPECT_EQ(client.answer()->status, 503);
}

TEST_P(RequestLimitsOfServer, AHandlerKnowsHowLongItMayTake) {
  Client client = worker_.connect();
  EXPECT_EQ(worker_.ask(client, get("/left"))->body, "forever");
  EXPECT_EQ(worker_.ask(client, get("/left_plain"))->body, "forever");
  client.send(get("/limited/left"));
  worker_.settle();
  worker_.advance(500ms);
  worker_.turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "1500");
}

INSTANTIATE_TEST_SUITE_P(Backends, RequestLimitsOfServer, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
