// SPDX-License-Identifier: MIT
// Conditional requests to handlers, as a client sees them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "coding/coding.hpp"
#include "skua.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;

class Conditions : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router make() {
    folder_.write("page.html", std::string(100'000, 'x'));
    support::set_modified(folder_ / "page.html",
                          std::chrono::seconds(1'000'000'000));  // its tag stays the same
    Router router;
    const auto tagged = [] { return Response("hello").header("ETag", "\"a\""); };
    router.get("/plain", tagged);
    router.get("/waits", [tagged]() -> Task<Response> { co_return tagged(); });
    router.get("/prepared", PreparedResponse(tagged()));
    router.get("/file", [this] { return Response::file((folder_ / "page.html").string()); });
    Router compressed;
    if (coding::is_available(coding::Coding::Gzip)) compressed.use(compression());
    compressed.get("/page",
                   [] { return Response(std::string(10'000, 'x')).header("ETag", "\"a\""); });
    const auto tag = [this] { return "\"v" + std::to_string(version_) + "\""; };
    compressed.get("/note",
                   [tag] { return Response(std::string(10'000, 'x')).header("ETag", tag()); });
    compressed.del("/note", [this, tag](Request& request) -> Response {
      if (auto refused = check_preconditions(request, tag())) return *std::move(refused);
      ++version_;
      return Status::NoContent;
    });
    router.mount("/compressed", std::move(compressed));
    router.use([](const Request&, Response& response) { response.header("X-Finished", "yes"); });
    return router;
  }
  Answer ask(const std::string& path, const std::string& fields = {}, bool is_head = false) {
    std::string request = get(path, fields);
    if (is_head) request.replace(0, 3, "HEAD");
    client_.send(request);
    const std::optional<Answer> answer = client_.answer(is_head);
    EXPECT_TRUE(answer.has_value()) << path;
    return answer.value_or(Answer{});
  }

  std::atomic<int> version_{1};
  support::TemporaryDirectory folder_;
  Router router_ = make();
  TestServer server_{router_, GetParam()};
  Client client_ = server_.connect();
};

TEST_P(Conditions, WhatTheClientHasIsNotSentAgain) {
  for (const char* const path : {"/plain", "/waits", "/prepared", "/file"}) {
    const Answer whole = ask(path);
    EXPECT_EQ(whole.status, 200) << path;
    EXPECT_FALSE(whole.body.empty()) << path;
    const std::string etag(whole.field("ETag").value_or(""));
    for (const bool is_head : {false, true}) {
      const Answer again = ask(path, "If-None-Match: " + etag + "\r\n", is_head);
      EXPECT_EQ(again.status, 304) << path;
      EXPECT_EQ(again.body, "") << path;
      EXPECT_EQ(again.field("ETag"), etag) << path;
      EXPECT_EQ(again.field("X-Finished"), "yes") << path;
      EXPECT_FALSE(again.field("Content-Type")) << path;
      EXPECT_FALSE(again.field("Content-Length")) << path;
    }
    EXPECT_EQ(ask(path, "If-Match: \"other\"\r\n").status, 412) << path;
  }
  for (const char* const path : {"/plain", "/waits", "/prepared"}) {
    EXPECT_EQ(ask(path, "If-Match: \"a\"\r\n").body, "hello") << path;
  }
}

TEST_P(Conditions, APartOfWhatTheClientHasIsSent) {
  for (const char* const path : {"/plain", "/waits", "/prepared"}) {
    const Answer part = ask(path, "Range: bytes=1-3\r\nIf-Range: \"a\"\r\n");
    EXPECT_EQ(part.status, 206) << path;
    EXPECT_EQ(part.body, "ell") << path;
    EXPECT_EQ(part.field("Content-Range"), "bytes 1-3/5") << path;
    EXPECT_EQ(part.field("Content-Length"), "3") << path;
    EXPECT_EQ(part.field("X-Finished"), "yes") << path;
    const Answer past = ask(path, "Range: bytes=5-\r\n");
    EXPECT_EQ(past.status, 416) << path;
    EXPECT_EQ(past.field("Content-Range"), "bytes */5") << path;
    EXPECT_EQ(ask(path, "Range: bytes=1-3\r\n", true).status, 200) << path;
  }
}

TEST_P(Conditions, CompressedResponsesHaveNoParts) {
  const std::string coded = "Accept-Encoding: gzip, br, zstd\r\n";
  const Answer whole = ask("/compressed/page", coded);
  EXPECT_EQ(whole.status, 200);
  EXPECT_FALSE(whole.field("Accept-Ranges"));
  const std::string etag(whole.field("ETag").value_or(""));
  EXPECT_EQ(
      ask("/compressed/page", coded + "Range: bytes=1-3\r\nIf-Range: " + etag + "\r\n").status,
      etag.starts_with("W/") ? 200 : 206);
  // Without If-Range it is a part of what is not compressed, with a tag of its own.
  const Answer part = ask("/compressed/page", coded + "Range: bytes=1-3\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.field("ETag"), "\"a\"");
  EXPECT_FALSE(part.field("Content-Encoding"));
  if (coding::is_available(coding::Coding::Gzip)) {
    EXPECT_EQ(part.field("Vary"), "Accept-Encoding");
  }
}

TEST_P(Conditions, TheTagOfACompressedPageNamesAVersion) {
  const auto change = [this](const std::string& fields) {
    std::string request = get("/compressed/note", fields);
    client_.send(request.replace(0, 3, "DELETE"));
    const std::optional<Answer> answer = client_.answer();
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(Answer{});
  };
  const Answer page = ask("/compressed/note", "Accept-Encoding: gzip\r\n");
  const std::string tag(page.field("ETag").value_or(""));
  EXPECT_EQ(tag, coding::is_available(coding::Coding::Gzip) ? "W/\"v1\"" : "\"v1\"");
  EXPECT_EQ(change("If-Match: " + tag + "\r\n").status, 204);
  const Answer late = change("If-Match: " + tag + "\r\n");
  EXPECT_EQ(late.status, 412);
  EXPECT_EQ(late.field("ETag"), "\"v2\"");
  EXPECT_EQ(change("If-Match: \"v2\"\r\n").status, 204);
  EXPECT_EQ(change("If-None-Match: *\r\n").status, 412);
  EXPECT_EQ(version_, 3);
}

INSTANTIATE_TEST_SUITE_P(Backends, Conditions, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
