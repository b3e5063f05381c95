// SPDX-License-Identifier: MIT
// Conditional requests to handlers, as a client sees them.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "skua.hpp"
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
    Router router;
    const auto tagged = [] { return Response("hello").header("ETag", "\"a\""); };
    router.get("/plain", tagged);
    router.get("/waits", [tagged]() -> Task<Response> { co_return tagged(); });
    router.get("/prepared", PreparedResponse(tagged()));
    router.get("/file", [this] { return Response::file((folder_ / "page.html").string()); });
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

INSTANTIATE_TEST_SUITE_P(Backends, Conditions, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
