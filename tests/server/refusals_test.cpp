// SPDX-License-Identifier: MIT
// Refusals after a route has matched are amended by the finishers of that route, as its other
// responses are: otherwise a browser reports an error of CORS, and nobody finds the request.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::TestWorker;
using testing::Transport;

constexpr Transport transports[] = {Transport::Tcp, Transport::H2};

std::string post(std::string_view path, std::size_t length) {
  return std::string("POST ").append(path) +
         " HTTP/1.1\r\nHost: t\r\nOrigin: https://page.example\r\nContent-Length: " +
         std::to_string(length) + "\r\n\r\n";
}

/// A worker whose routes have the usual finishers.
class Refusals : public ::testing::TestWithParam<Transport> {
 protected:
  Refusals() {
    router_.use(request_id());
    router_.use(problem_details());
    router_.use(cors({.origins = {"https://page.example"}}));
    router_.post("/plain", [](const Request& request) { return std::string(request.body()); });
    router_.post("/stream", [](Request& request) -> Task<std::string> {
      std::string text = co_await request.text();
      co_return text;
    });
    router_.post("/slow", []() -> Task<std::string> {
      co_await sleep(1h);
      co_return "never";
    });
    options_.limits.body_bytes = options_.limits.streamed_body_bytes = 4'000;
    options_.timeouts.handler = 5min;
  }

  void expect_amended(const std::optional<Answer>& answer, int status, const char* what) {
    ASSERT_TRUE(answer) << what;
    EXPECT_EQ(answer->status, status) << what;
    EXPECT_EQ(answer->field("Access-Control-Allow-Origin"), "https://page.example") << what;
    EXPECT_EQ(answer->field("Content-Type"), "application/problem+json") << what;
    EXPECT_TRUE(answer->field("X-Request-Id")) << what;
  }

  Router router_;
  ServerOptions options_;
};

TEST_P(Refusals, OfContentThatIsTooLongAreAmended) {
  TestWorker worker(router_, BackendChoice::Poll, options_, GetParam());
  for (const char* path : {"/plain", "/stream"}) {
    Client client = worker.connect();
    client.send(post(path, 5'000) + std::string(5'000, 'x'));
    worker.turn_until_readable(client);
    expect_amended(client.answer(), 413, path);
  }
  if (GetParam() != Transport::Tcp) return;
  for (const char* path : {"/plain", "/stream"}) {
    Client client = worker.connect();
    std::string request = post(path, 0);
    const std::string length = "Content-Length: 0";
    request.replace(request.find(length), length.size(), "Transfer-Encoding: chunked");
    client.send(request + "1388\r\n" + std::string(5'000, 'x') + "\r\n0\r\n\r\n");
    worker.turn_until_readable(client);
    expect_amended(client.answer(), 413, path);
    Client other = worker.connect();
    other.send(request + "what?\r\n");
    worker.turn_until_readable(other);
    expect_amended(other.answer(), 400, path);
  }
}

// The request, which its producer may use, ends with a refusal.
TEST_P(Refusals, AreNotTheStreamOfAGuard) {
  int produced = 0;
  Router inner;
  inner.use([&produced](const Request& request) -> std::optional<Response> {
    return Response::stream("text/plain", [&](BodyWriter& out) -> Task<> {
      ++produced;
      co_await sleep(1s);
      co_await out.write(request.path());
    });
  });
  inner.post("/stream", []() -> Task<std::string> { co_return "nobody comes here"; });
  router_.mount("/guarded", std::move(inner));
  TestWorker worker(router_, BackendChoice::Poll, options_, GetParam());
  Client client = worker.connect();
  client.send(post("/guarded/stream", 5'000) + std::string(5'000, 'x'));
  worker.settle();
  worker.advance(2s);
  worker.turn_until_readable(client);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(produced, 0);
}

TEST_P(Refusals, OfContentThatIsTooLateAreAmended) {
  TestWorker worker(router_, BackendChoice::Poll, options_, GetParam());
  for (const char* path : {"/plain", "/stream"}) {
    Client client = worker.connect();
    client.send(post(path, 100) + "some");
    worker.settle();
    worker.advance(31s);
    worker.turn_until_readable(client);
    expect_amended(client.answer(), 408, path);
  }
}

TEST_P(Refusals, OfHandlersThatAreTooLateAreAmended) {
  TestWorker worker(router_, BackendChoice::Poll, options_, GetParam());
  Client client = worker.connect();
  client.send(post("/slow", 4) + "some");
  worker.settle();
  worker.advance(5min + 1s);
  worker.turn_until_readable(client);
  expect_amended(client.answer(), 503, "/slow");
}

TEST_P(Refusals, OfContentThatIsTooMuchSayWhenToComeAgain) {
  options_.limits.body_bytes = options_.limits.server_body_bytes = 200'000;
  std::vector<std::string> lines;
  options_.hooks.log = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
  TestWorker worker(router_, BackendChoice::Poll, options_, GetParam());
  std::vector<Client> clients;
  int refused = 0;
  for (int i = 0; i < 8; ++i) {
    Client& client = clients.emplace_back(worker.connect());
    client.send(post("/plain", 200'000));
    for (int piece = 0; piece < 3; ++piece) {
      client.send(std::string(40'000, 'x'));
      for (int turn = 0; turn < 4; ++turn) worker.settle();
    }
    if (!TestWorker::is_readable(client)) continue;
    const auto answer = client.answer();
    if (!answer) continue;  // a window has opened
    expect_amended(answer, 503, "/plain");
    EXPECT_EQ(answer->field("Retry-After"), "5");
    ++refused;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(worker.counters().refused_overloaded, static_cast<std::uint64_t>(refused));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines.front().find("server_body_bytes"), std::string::npos) << lines.front();
}

TEST_P(Refusals, OfAFinisherThatThrowsAreAnswered) {
  router_.use([](const Request&, Response&) { throw HttpError(Status::BadGateway); });
  TestWorker worker(router_, BackendChoice::Poll, options_, GetParam());
  Client client = worker.connect();
  client.send(post("/plain", 5'000) + std::string(5'000, 'x'));
  worker.turn_until_readable(client);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 502);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Refusals, ::testing::ValuesIn(transports), [](const auto& one) {
  return std::string(one.param == Transport::Tcp ? "Http1" : "Http2");
});

}  // namespace
}  // namespace skua
