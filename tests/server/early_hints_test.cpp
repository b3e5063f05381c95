// SPDX-License-Identifier: MIT
// Early hints of handlers: 103 before the response, and after nothing else.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "skua/field_lines.hpp"
#include "skua/router.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestServer;

FieldLines link_to(const char* target) {
  FieldLines lines;
  lines.add("Link", target);
  return lines;
}

class EarlyHints : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router router_;
};

TEST_P(EarlyHints, ComeBeforeTheResponse) {
  router_.get("/", [](Request& request) -> Task<std::string> {
    request.early_hints(link_to("</a.css>; rel=preload"));
    request.early_hints(FieldLines());
    request.early_hints(link_to("</b.js>; rel=preload"));
    co_return "page";
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  for (int i = 0; i < 2; ++i) {
    client.send(get("/"));
    for (const char* const target : {"</a.css>; rel=preload", "</b.js>; rel=preload"}) {
      const std::optional<Answer> hints = client.answer();
      ASSERT_TRUE(hints);
      EXPECT_EQ(hints->status, 103);
      EXPECT_EQ(hints->field("Link"), target);
      EXPECT_EQ(hints->body, "");
    }
    const std::optional<Answer> page = client.answer();
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_EQ(page->field("Link"), std::nullopt);
    EXPECT_EQ(page->body, "page");
  }
}

TEST_P(EarlyHints, AreLeftOutWhereTheyCannotBeSent) {
  router_.get("/plain", [](Request& request) {
    request.early_hints(link_to("</a.css>"));
    return "plain";
  });
  router_.get("/old", [](Request& request) -> Task<std::string> {
    request.early_hints(link_to("</a.css>"));
    co_return "old";
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  client.send(get("/plain"));
  EXPECT_EQ(client.answer()->body, "plain");
  if (testing::speaks_http2()) return;
  client.send("GET /old HTTP/1.0\r\nHost: t\r\n\r\n");
  EXPECT_EQ(client.answer()->body, "old");
}

TEST_P(EarlyHints, AreNotAboutTheConnection) {
  router_.get("/{name}", [](Request& request, std::string name) -> Task<std::string> {
    FieldLines lines = link_to("</a.css>");
    lines.add(name, "1");
    try {
      request.early_hints(lines);
    } catch (const std::invalid_argument& refused) {
      co_return refused.what();
    }
    co_return "sent";
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  for (const std::string name : {"Connection", "content-length", "Transfer-Encoding", "Upgrade",
                                 "Keep-Alive", "TE", "Trailer", "Proxy-Connection"}) {
    client.send(get("/" + name));
    EXPECT_EQ(client.answer()->body, "Request::early_hints: " + name + " is about the connection");
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, EarlyHints, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
