// SPDX-License-Identifier: MIT
// Range requests for responses with a handler's own validators.
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_io.hpp"
#include "http/message/response_parts.hpp"
#include "skua/body_writer.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view digits = "0123456789";

Response ask(const Router& router, std::string_view line, Fields fields = {}) {
  testing::FakeRequest fake(line);
  for (const auto& [name, value] : fields) fake.header(name, value);
  return router.handle(fake.request());
}

std::string field(const Response& response, std::string_view name) {
  return std::string(response.header(name).value_or("<none>"));
}

Response tagged(Body body) { return Response(std::move(body)).header("ETag", "\"a\""); }

// Digits for each kind of content, and one that is long enough to be apart from its head.
Router sample() {
  static const std::string kept(digits);
  Router router;
  router.get("/inline", [] { return tagged(digits); });
  router.get("/owned", [] { return tagged(std::string(digits) + std::string(100'000, 'x')); });
  router.get("/static", [] { return tagged(Body::borrowed(kept)); });
  router.get("/shared", [] { return tagged(std::make_shared<const std::string>(digits)); });
  router.get("/waits", []() -> Task<Response> { co_return tagged(digits); });
  router.get("/prepared", PreparedResponse(tagged(digits)));
  router.get("/dated", [] { return Response(digits).header("Last-Modified", date); });
  return router;
}

TEST(ResponseRanges, APartOfEachKindOfContent) {
  const Router router = sample();
  for (const char* const path :
       {"/inline", "/owned", "/static", "/shared", "/waits", "/prepared", "/dated"}) {
    const std::string line = std::string("GET ") + path;
    const Response whole = ask(router, line);
    EXPECT_EQ(whole.status(), Status::Ok) << path;
    EXPECT_FALSE(whole.header("Accept-Ranges")) << path;
    const std::string total = std::to_string(whole.body().size());
    const Response part = ask(router, line, {{"Range", "bytes=2-5"}});
    EXPECT_EQ(part.status(), Status::PartialContent) << path;
    EXPECT_EQ(part.body(), "2345") << path;
    EXPECT_EQ(field(part, "Content-Range"), "bytes 2-5/" + total) << path;
    EXPECT_EQ(part.header("ETag"), whole.header("ETag")) << path;
    EXPECT_EQ(part.content_type(), Response::plain_text) << path;
    const Response past = ask(router, line, {{"Range", "bytes=1000000-"}});
    EXPECT_EQ(past.status(), Status::RangeNotSatisfiable) << path;
    EXPECT_EQ(field(past, "Content-Range"), "bytes */" + total) << path;
  }
  EXPECT_EQ(ask(router, "GET /owned", {{"Range", "bytes=-3"}}).body(), "xxx");
}

TEST(ResponseRanges, SeveralPartsAreOneMessage) {
  const Response parts =
      ask(sample(), "GET /owned", {{"Range", "bytes=0-1,5000-5001"}, {"If-Range", "\"a\""}});
  EXPECT_EQ(parts.status(), Status::PartialContent);
  EXPECT_TRUE(parts.content_type().starts_with("multipart/byteranges; boundary=skua-"));
  EXPECT_FALSE(parts.header("Content-Range"));
  EXPECT_NE(parts.body().find("Content-Type: text/plain; charset=utf-8\r\n"
                              "Content-Range: bytes 0-1/100010\r\n\r\n01\r\n"),
            std::string_view::npos);
}

TEST(ResponseRanges, OnlyOfTheRepresentationThatTheClientHas) {
  const Router router = sample();
  for (const std::string_view other : {"\"b\"", "W/\"a\"", "a", date.data()}) {
    const Response whole =
        ask(router, "GET /inline", {{"Range", "bytes=0-1"}, {"If-Range", other}});
    EXPECT_EQ(whole.status(), Status::Ok) << other;
    EXPECT_EQ(whole.body(), digits) << other;
  }
  EXPECT_EQ(ask(router, "GET /dated", {{"Range", "bytes=0-1"}, {"If-Range", date}}).body(), "01");
}

TEST(ResponseRanges, ConditionsComeFirst) {
  const Router router = sample();
  EXPECT_EQ(
      ask(router, "GET /inline", {{"Range", "bytes=0-1"}, {"If-None-Match", "\"a\""}}).status(),
      Status::NotModified);
  EXPECT_EQ(ask(router, "GET /inline", {{"Range", "bytes=0-1"}, {"If-Match", "\"b\""}}).status(),
            Status::PreconditionFailed);
}

TEST(ResponseRanges, MalformedOnesAreIgnored) {
  const Router router = sample();
  for (const std::string_view range :
       {"", "bytes", "bytes=", "bytes=5-2", "bytes=a-b", "lines=0-1", "bytes=0-1,x", "bytes=--1"}) {
    const Response whole = ask(router, "GET /inline", {{"Range", range}});
    EXPECT_EQ(whole.status(), Status::Ok) << range;
    EXPECT_EQ(whole.body(), digits) << range;
  }
  const Response twice =
      ask(router, "GET /inline", {{"Range", "bytes=0-1"}, {"Range", "bytes=2-3"}});
  EXPECT_EQ(twice.status(), Status::Ok);
}

TEST(ResponseRanges, NotWithoutAStrongValidatorNorOfStreams) {
  Router router;
  router.get("/plain", [] { return digits; });
  router.get("/weak", [] { return Response(digits).header("ETag", "W/\"a\""); });
  router.get("/malformed", [] { return Response(digits).header("ETag", "a"); });
  router.get("/future", [] {
    return Response(digits).header("Last-Modified", "Sun, 06 Nov 2994 08:49:37 GMT");
  });
  router.get("/refuses", [] { return tagged(digits).header("Accept-Ranges", "none"); });
  router.get("/error", [] { return tagged(digits).status(Status::NotFound); });
  router.get("/empty", [] { return tagged(""); });
  router.get("/origin", [] {
    Response response = tagged(digits);
    http::ResponseAccess::mark_evaluated(response);
    return response;
  });
  router.get("/stream", [] {
    const auto write = [](BodyWriter& out) -> Task<> { co_await out.write("0123456789"); };
    return Response::stream("text/plain", write, 10).header("ETag", "\"a\"");
  });
  router.post("/inline", [] { return tagged(digits); });
  for (const char* const path :
       {"/plain", "/weak", "/malformed", "/future", "/refuses", "/empty", "/origin", "/stream"}) {
    const Response whole = ask(router, std::string("GET ") + path, {{"Range", "bytes=0-1"}});
    EXPECT_EQ(whole.status(), Status::Ok) << path;
    EXPECT_FALSE(whole.header("Content-Range")) << path;
  }
  EXPECT_EQ(ask(router, "GET /error", {{"Range", "bytes=0-1"}}).status(), Status::NotFound);
  EXPECT_EQ(ask(router, "POST /inline", {{"Range", "bytes=0-1"}}).status(), Status::Ok);
  EXPECT_EQ(ask(sample(), "HEAD /inline", {{"Range", "bytes=0-1"}}).status(), Status::Ok);
}

TEST(ResponseRanges, CodedContentHasRangesOfItsBytesButNotSeveral) {
  Router router;
  router.get("/", [] { return tagged(std::string(1000, 'x')).header("Content-Encoding", "gzip"); });
  const Response part = ask(router, "GET /", {{"Range", "bytes=0-1"}});
  EXPECT_EQ(part.status(), Status::PartialContent);
  EXPECT_EQ(field(part, "Content-Encoding"), "gzip");
  EXPECT_EQ(ask(router, "GET /", {{"Range", "bytes=0-1,900-901"}}).status(), Status::Ok);
}

TEST(ResponseRanges, AFileOfTheProgramHasThem) {
  const support::TemporaryDirectory folder;
  folder.write("a.bin", std::string(100'000, 'x') + "end");
  const std::filesystem::path path = folder / "a.bin";
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  Router router;
  router.get("/", [&] { return Response::file(path.string()); });
  const Response whole = ask(router, "GET /");
  EXPECT_EQ(field(whole, "Accept-Ranges"), "bytes");
  const Response part = ask(router, "GET /", {{"Range", "bytes=-3"}});
  EXPECT_EQ(part.status(), Status::PartialContent);
  ASSERT_NE(part.content().file(), nullptr);
  std::string text(3, '\0');
  EXPECT_EQ(part.content().size_bytes(), 3U);
  EXPECT_EQ(base::read_at(part.content().file()->file, part.content().file()->offset, text).value(),
            3U);
  EXPECT_EQ(text, "end");
  const Response parts = ask(router, "GET /", {{"Range", "bytes=0-1,-3"}});
  EXPECT_NE(parts.body().find("\r\n\r\nend\r\n"), std::string_view::npos);
}

}  // namespace
}  // namespace skua
