// SPDX-License-Identifier: MIT
// Conditional requests for responses with a handler's own validators.
#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "http/message/response_parts.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view earlier = "Sat, 05 Nov 1994 08:49:37 GMT";

Response ask(const Router& router, std::string_view line, Fields fields = {}) {
  testing::FakeRequest fake(line);
  for (const auto& [name, value] : fields) fake.header(name, value);
  return router.handle(fake.request());
}

Response tagged() {
  Response response("hello");
  response.header("ETag", "\"a\"")
      .header("Last-Modified", date)
      .header("Cache-Control", "no-cache");
  return response;
}

Router sample() {
  Router router;
  router.get("/", tagged);
  router.get("/waits", []() -> Task<Response> { co_return tagged(); });
  router.get("/prepared", PreparedResponse(tagged()));
  router.get("/weak", [] { return Response("hello").header("ETag", "W/\"a\""); });
  router.get("/dated", [] { return Response("hello").header("Last-Modified", date); });
  router.get("/plain", [] { return "hello"; });
  router.get("/malformed", [] { return Response("hello").header("ETag", "a"); });
  router.get("/gone", [] { return Response(Status::Gone).header("ETag", "\"a\""); });
  router.put("/", tagged);
  return router;
}

TEST(ResponseConditions, AnETagThatTheClientHasGives304) {
  const Router router = sample();
  for (const char* const line : {"GET /", "HEAD /", "GET /waits", "GET /prepared", "GET /weak"}) {
    const Response response = ask(router, line, {{"If-None-Match", "\"b\", W/\"a\""}});
    EXPECT_EQ(response.status(), Status::NotModified) << line;
    EXPECT_EQ(response.content().size_bytes(), 0U) << line;
    EXPECT_EQ(response.content_type(), "") << line;
    EXPECT_TRUE(response.header("ETag")) << line;
  }
  EXPECT_EQ(ask(router, "GET /", {{"If-None-Match", "*"}}).header("Cache-Control"), "no-cache");
  EXPECT_EQ(ask(router, "GET /", {{"If-None-Match", "\"b\""}}).body(), "hello");
}

TEST(ResponseConditions, ADateGives304UnlessThereIsAnETagToCompare) {
  const Router router = sample();
  EXPECT_EQ(ask(router, "GET /dated", {{"If-Modified-Since", date}}).status(), Status::NotModified);
  EXPECT_EQ(ask(router, "GET /dated", {{"If-Modified-Since", earlier}}).status(), Status::Ok);
  EXPECT_EQ(
      ask(router, "GET /", {{"If-Modified-Since", date}, {"If-None-Match", "\"b\""}}).status(),
      Status::Ok);
}

TEST(ResponseConditions, AConditionThatDoesNotHoldGives412) {
  const Router router = sample();
  for (const char* const line : {"GET /", "GET /waits", "GET /prepared"}) {
    EXPECT_EQ(ask(router, line, {{"If-Match", "\"b\""}}).status(), Status::PreconditionFailed);
    EXPECT_EQ(ask(router, line, {{"If-Match", "\"a\""}}).status(), Status::Ok);
  }
  EXPECT_EQ(ask(router, "GET /weak", {{"If-Match", "\"a\""}}).status(), Status::PreconditionFailed);
  EXPECT_EQ(ask(router, "GET /dated", {{"If-Unmodified-Since", earlier}}).status(),
            Status::PreconditionFailed);
}

TEST(ResponseConditions, TheyAreTheHandlersWhereItSaysNothingOrHasActed) {
  const Router router = sample();
  EXPECT_EQ(ask(router, "GET /plain", {{"If-None-Match", "*"}}).status(), Status::Ok);
  EXPECT_EQ(ask(router, "GET /malformed", {{"If-None-Match", "*"}}).status(), Status::Ok);
  EXPECT_EQ(ask(router, "GET /gone", {{"If-None-Match", "\"a\""}}).status(), Status::Gone);
  EXPECT_EQ(ask(router, "PUT /", {{"If-None-Match", "\"a\""}}).status(), Status::Ok);
  EXPECT_EQ(ask(router, "PUT /", {{"If-Match", "\"b\""}}).status(), Status::Ok);
}

class OneFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(std::string_view name) const { return (folder_ / name).string(); }

  support::TemporaryDirectory folder_;
};

TEST_F(OneFile, IsAResponseWithValidators) {
  folder_.write("a.css", "body {}");
  folder_.write("empty", "");
  Router router;
  router.get("/style", [this] { return Response::file(path("a.css")); });
  router.get("/text", [this] { return Response::file(path("a.css"), "text/plain"); });
  router.get("/empty", [this] { return Response::file(path("empty")); });
  router.get("/none", [this] { return Response::file(path("none")); });
  router.get("/folder", [this] { return Response::file(folder_.string()); });

  const Response whole = ask(router, "GET /style");
  EXPECT_EQ(whole.status(), Status::Ok);
  EXPECT_EQ(whole.content().size_bytes(), 7U);
  EXPECT_TRUE(whole.content_type().starts_with("text/css")) << whole.content_type();
  ASSERT_TRUE(whole.header("ETag") && whole.header("Last-Modified"));
  const std::string etag(*whole.header("ETag"));
  const Response again = ask(router, "GET /style", {{"If-None-Match", etag}});
  EXPECT_EQ(again.status(), Status::NotModified);
  EXPECT_EQ(again.content().size_bytes(), 0U);

  EXPECT_EQ(ask(router, "GET /text").content_type(), "text/plain");
  EXPECT_EQ(ask(router, "GET /empty").status(), Status::Ok);
  EXPECT_EQ(ask(router, "GET /none").status(), Status::NotFound);
  EXPECT_EQ(ask(router, "GET /folder").status(), Status::NotFound);
}

TEST_F(OneFile, IsServedAtAUrl) {
  folder_.write(".icon.svg", "<svg/>");
  Router router;
  router.file("/favicon.svg", path(".icon.svg"), {.max_age = std::chrono::hours(1)});
  const Response whole = ask(router, "GET /favicon.svg");
  EXPECT_EQ(whole.body(), "<svg/>");
  EXPECT_EQ(whole.content_type(), "image/svg+xml");
  EXPECT_EQ(whole.header("Cache-Control"), "max-age=3600");
  const std::string etag(whole.header("ETag").value_or(""));
  EXPECT_EQ(ask(router, "GET /favicon.svg", {{"If-None-Match", etag}}).status(),
            Status::NotModified);
  EXPECT_EQ(ask(router, "GET /favicon.svg", {{"Range", "bytes=1-3"}}).body(), "svg");
  EXPECT_EQ(ask(router, "POST /favicon.svg").status(), Status::MethodNotAllowed);
  EXPECT_EQ(ask(router, "GET /.icon.svg").status(), Status::NotFound);

  Router other;
  EXPECT_THROW(other.file("/a", path("none")), Exception);
  EXPECT_THROW(other.file("/a", folder_.string()), Exception);
  EXPECT_THROW(other.file("/a", path("none/b")), Exception);
}

TEST(ResponseConditions, AreNotEvaluatedAgainForAnOriginServer) {
  Router router;
  router.get("/", [] {
    Response response = tagged();
    http::ResponseAccess::mark_evaluated(response);
    return response;
  });
  EXPECT_EQ(ask(router, "GET /", {{"If-None-Match", "\"a\""}}).status(), Status::Ok);
  EXPECT_EQ(ask(router, "GET /", {{"If-Match", "\"b\""}}).status(), Status::Ok);
}

}  // namespace
}  // namespace skua
