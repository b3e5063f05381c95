// SPDX-License-Identifier: MIT
// Responses to a peer that has sent several requests when the server drains.
#include <gtest/gtest.h>

#include <string>

#include "skua.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;

class Drain : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router router_ = [] {
    Router router;
    router.get("/{id}", [](const Request& request) { return std::string(request.path()); });
    return router;
  }();
};

TEST_P(Drain, AnswersAllRequestsThatWerePipelined) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: pipelining";
  TestWorker worker(router_, GetParam());
  Client client = worker.connect();
  (*worker).begin_drain();
  worker.settle();
  client.send(get("/1") + get("/2") + get("/3"));
  worker.turn_until_readable(client);
  for (const char* path : {"/1", "/2"}) {
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, path);
    EXPECT_FALSE(answer->field("Connection"));
  }
  const auto last = client.answer();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->body, "/3");
  EXPECT_EQ(last->field("Connection"), "close");
}

TEST_P(Drain, WaitsForTheRestOfARequestBehindOthers) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: pipelining";
  TestWorker worker(router_, GetParam());
  Client client = worker.connect();
  (*worker).begin_drain();
  worker.settle();
  client.send(get("/1") + "GET /2 HTTP/1.1\r\n");
  worker.turn_until_readable(client);
  EXPECT_EQ(client.answer()->body, "/1");
  const auto last = worker.ask(client, "Host: a\r\n\r\n");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->body, "/2");
  EXPECT_EQ(last->field("Connection"), "close");
}

INSTANTIATE_TEST_SUITE_P(Backends, Drain, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
