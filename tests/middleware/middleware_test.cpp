// SPDX-License-Identifier: MIT
// The built-in middleware, seen by clients over a real socket, on every back end.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "coding/coding.hpp"
#include "skua.hpp"
#include "support/paths.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;

constexpr std::string_view site = "https://example.com";

std::string page() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text.append("<li>").append(std::to_string(i)).append("</li>\n");
  return text;
}

std::string decoded(const Answer& answer) {
  const auto coding = coding::find_coding(answer.field("Content-Encoding").value_or(""));
  if (!coding) return "not encoded";
  auto decoder = coding::Decoder::create(*coding);
  std::string text;
  if (!decoder || !decoder->push(answer.body, text) || !decoder->finish()) return "malformed";
  return text;
}

Router sample() {
  Router limited;
  limited.use(rate_limit({.requests = 3, .per = 1h}));
  limited.get("/", [] { return "x"; });

  Router router;
  router.use(cors({.origins = {std::string(site)}, .methods = {Method::Get, Method::Delete}}));
  router.use(request_id()).use(security_headers());
  if (coding::is_available(coding::Coding::Gzip)) router.use(compression());
  Router streamed;
  if (coding::is_available(coding::Coding::Gzip)) streamed.use(compression({.streams = true}));
  streamed.get("/", [] {
    return Response::stream("text/html", [](BodyWriter& out) -> Task<> {
      const std::string text = page();
      for (std::size_t at = 0; at < text.size(); at += 1000) {
        co_await out.write(text.substr(at, 1000));
        co_await yield();
      }
      out.trailer("X-Lines", "2000");
    });
  });
  router.mount("/streamed", std::move(streamed));
  router.get("/page", [] { return Response::html(page()); });
  router.get("/etag", [] { return Response::html(page()).header("ETag", "\"1\""); });
  router.get("/throws", []() -> Response { throw HttpError(Status(418), page()); });
  router.get("/id",
             [](const Request& request) { return request.attachments().find<RequestId>()->value; });
  router.mount("/limited", std::move(limited));
  router.files("/files", testing::source_path("examples/site"));
  return router;
}

class MiddlewareOverSockets : public ::testing::TestWithParam<BackendChoice> {
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

TEST_P(MiddlewareOverSockets, CompressesAStreamPieceByPiece) {
  EXPECT_EQ(ask(get("/streamed")).body, page());
  for (const std::string_view coding : {"gzip", "br", "zstd"}) {
    if (!coding::is_available(*coding::find_coding(coding))) continue;
    const Answer answer = ask(get("/streamed", "Accept-Encoding: " + std::string(coding) + "\r\n"));
    EXPECT_EQ(answer.field("Content-Encoding"), coding);
    EXPECT_EQ(answer.field("Transfer-Encoding"), testing::chunked());
    EXPECT_EQ(answer.field("Vary"), "Accept-Encoding, Origin");
    EXPECT_LT(answer.body.size(), page().size());
    EXPECT_EQ(decoded(answer), page());
  }
}

TEST_P(MiddlewareOverSockets, CompressesWhatIsAskedForCompressed) {
  EXPECT_EQ(ask(get("/page")).body, page());
  for (const std::string_view coding : {"gzip", "br", "zstd"}) {
    if (!coding::is_available(*coding::find_coding(coding))) continue;
    const std::string field = "Accept-Encoding: " + std::string(coding) + "\r\n";
    const Answer answer = ask(get("/page", field));
    EXPECT_EQ(answer.field("Content-Encoding"), coding);
    EXPECT_EQ(answer.field("Content-Length"), std::to_string(answer.body.size()));
    EXPECT_LT(answer.body.size(), page().size() / 2);
    EXPECT_EQ(answer.field("Vary"), "Origin, Accept-Encoding");
    EXPECT_EQ(decoded(answer), page());
    const Answer head = ask("HEAD /page HTTP/1.1\r\nHost: a\r\n" + field + "\r\n", true);
    EXPECT_EQ(head.field("Content-Length"), answer.field("Content-Length"));
    EXPECT_EQ(head.field("Content-Encoding"), coding);
    EXPECT_EQ(ask(get("/etag", field)).field("ETag"), "W/\"1\"");
    const Answer failed = ask(get("/throws", field));
    EXPECT_EQ(failed.status, 418);
    EXPECT_EQ(decoded(failed), page());
  }
}

TEST_P(MiddlewareOverSockets, CompressesSmallFilesAndKnowsThemAgain) {
  if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "built without gzip";
  const std::string gzip = "Accept-Encoding: gzip\r\n";
  const Answer plain = ask(get("/files/style.css"));
  ASSERT_GT(plain.body.size(), 1024U);
  const Answer coded = ask(get("/files/style.css", gzip));
  EXPECT_EQ(decoded(coded), plain.body);
  EXPECT_EQ(coded.field("Accept-Ranges"), std::nullopt);
  const std::string etag = coded.field("ETag").value_or("");
  EXPECT_TRUE(etag.starts_with("W/")) << etag;
  const Answer known = ask(get("/files/style.css", gzip + "If-None-Match: " + etag + "\r\n"));
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.field("ETag"), etag);
  EXPECT_EQ(known.field("Vary"), "Origin, Accept-Encoding");
  const Answer part = ask(get("/files/style.css", gzip + "Range: bytes=0-9\r\n"));
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, plain.body.substr(0, 10));
  EXPECT_EQ(part.field("Vary"), coded.field("Vary"));
  const Answer parts = ask(get("/files/style.css", gzip + "Range: bytes=0-9,20-29\r\n"));
  EXPECT_EQ(parts.status, 206);
  EXPECT_EQ(parts.field("Vary"), coded.field("Vary"));
}

TEST_P(MiddlewareOverSockets, TellsABrowserWhoMayRead) {
  const std::string origin = "Origin: " + std::string(site) + "\r\n";
  EXPECT_EQ(ask(get("/id", origin)).field("Access-Control-Allow-Origin"), site);
  EXPECT_EQ(
      ask(get("/id", "Origin: https://evil.example\r\n")).field("Access-Control-Allow-Origin"),
      std::nullopt);
  EXPECT_EQ(ask(get("/none", origin)).field("Access-Control-Allow-Origin"), site);
  const Answer preflight = ask("OPTIONS /id HTTP/1.1\r\nHost: a\r\n" + origin +
                               "Access-Control-Request-Method: DELETE\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.field("Access-Control-Allow-Origin"), site);
  EXPECT_EQ(preflight.field("Access-Control-Allow-Methods"), "GET, DELETE");
  EXPECT_EQ(ask(get("/page")).body, page()) << "the connection must stay open";
}

TEST_P(MiddlewareOverSockets, NamesEachRequest) {
  const Answer first = ask(get("/id"));
  const Answer second = ask(get("/id"));
  EXPECT_EQ(first.field("X-Request-Id"), first.body);
  EXPECT_NE(first.body, second.body);
  EXPECT_EQ(ask(get("/none")).field("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(second.field("Strict-Transport-Security").has_value(), testing::is_secure());
}

TEST_P(MiddlewareOverSockets, LimitsAClientOverAllItsConnections) {
  std::atomic<int> allowed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, &allowed] {
      Client client = server_.connect();
      for (int i = 0; i < 5; ++i) {
        client.send(get("/limited"));
        const std::optional<Answer> answer = client.answer();
        allowed += answer && answer->status == 200 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 3);
  const Answer refused = ask(get("/limited"));
  EXPECT_EQ(refused.status, 429);
  const int seconds = std::stoi(refused.field("Retry-After").value_or("0"));
  EXPECT_TRUE(seconds > 0 && seconds <= 1200) << seconds;
  EXPECT_EQ(ask(get("/id")).status, 200) << "only paths below /limited are limited";
}

// After a reset the system forgets the address of a peer, but keeps the data that it sent.
TEST_P(MiddlewareOverSockets, APeerThatIsGoneIsLimitedLikeAnyOther) {
  std::atomic<int> begun{0};
  std::atomic<int> served{0};
  std::atomic<bool> may_go_on{false};
  Router router;
  router.get("/blocks", [&] {
    ++begun;
    while (!may_go_on) std::this_thread::yield();
    return "unblocked";
  });
  Router limited;
  limited.use(rate_limit({.requests = 1, .per = 1h}));
  limited.get("/", [&] {
    ++served;
    return "served";
  });
  router.mount("/limited", std::move(limited));
  {
    TestServer server(router, GetParam());
    std::vector<Client> gone;
    for (int i = 0; i < 5; ++i) {
      gone.push_back(server.connect());
      gone.back().send(get("/nothing"));
      EXPECT_EQ(gone.back().answer()->status, 404);
    }
    Client blocking = server.connect();
    blocking.send(get("/blocks"));
    while (begun != 1) std::this_thread::yield();
    for (Client& client : gone) {
      client.send(get("/limited/"));
      client.reset();
    }
    may_go_on = true;
    EXPECT_EQ(blocking.answer()->body, "unblocked");
    while (server->counters().connections_open != 1) std::this_thread::yield();
  }
  EXPECT_LE(served, 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, MiddlewareOverSockets, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
