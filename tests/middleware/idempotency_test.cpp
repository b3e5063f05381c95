// SPDX-License-Identifier: MIT
// Idempotency keys around uploads, over a real socket, on every back end.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "skua.hpp"
#include "support/memory_texts.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::MemoryTexts;
using testing::TestServer;

class IdempotentUpload : public ::testing::TestWithParam<BackendChoice> {};

TEST_P(IdempotentUpload, ClaimsNothingBeforeItIsComplete) {
  const auto store = std::make_shared<MemoryTexts>();
  int begun = 0;  // of the server's thread, like the store
  Router router;
  router.use([&](Request& request) -> std::optional<Response> {
    if (request.method() == Method::Post) ++begun;
    return std::nullopt;
  });
  router.use(idempotency_keys({}, store));
  router.post("/orders", [](Request& request) { return std::string(request.body()); });
  router.get("/state", [&] {
    return std::to_string(begun) + " begun, " + std::to_string(store->texts.size()) + " claimed";
  });
  TestServer server(router, GetParam());
  const std::string head =
      "POST /orders HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 5\r\n\r\n";
  Client asks = server.connect();
  const auto state = [&] {
    asks.send(get("/state"));
    return asks.answer().value_or(testing::Answer{}).body;
  };
  Client breaks = server.connect();
  breaks.send(head + "he");
  std::string now = state();
  while (now.starts_with("0 ")) now = state();
  EXPECT_EQ(now, "1 begun, 0 claimed");
  breaks.reset();
  Client again = server.connect();
  again.send(head + "hello");
  EXPECT_EQ(again.answer().value_or(testing::Answer{}).body, "hello");
  EXPECT_EQ(state(), "2 begun, 1 claimed");
}

INSTANTIATE_TEST_SUITE_P(Backends, IdempotentUpload, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
