// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "skua/middleware.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::call;
using testing::FakeRequest;

// Returns a router that responds with the identifier its handler saw.
Router echo(RequestIdOptions options) {
  Router router;
  router.use(request_id(std::move(options)));
  router.get("/", [](const Request& request) {
    const RequestId* const id = request.attachments().find<RequestId>();
    return id == nullptr ? std::string("none") : id->value;
  });
  return router;
}

TEST(RequestIdTest, HandlerAndClientSeeTheSame) {
  const Router router = echo({});
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const Response response = call(router, "GET /");
    EXPECT_EQ(response.header("X-Request-Id"), response.body());
    EXPECT_EQ(response.body().find_first_not_of("0123456789abcdef"), std::string_view::npos);
    seen.emplace(response.body());
  }
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_EQ(seen.begin()->size(), 32U);
  EXPECT_TRUE(call(router, "GET /none").header("X-Request-Id"));
}

TEST(RequestIdTest, TakesThatOfTheClientOnlyWhenItIsTrusted) {
  const auto answered = [](bool trusts, std::string_view incoming) {
    const Router router = echo({.trust_incoming = trusts});
    FakeRequest fake("GET /");
    fake.header("x-request-id", incoming);
    return std::string(*router.handle(fake.request()).header("X-Request-Id"));
  };
  EXPECT_EQ(answered(true, "req-1/a;b"), "req-1/a;b");
  EXPECT_EQ(answered(true, std::string(128, 'x')), std::string(128, 'x'));
  EXPECT_NE(answered(false, "req-1"), "req-1");
  for (const std::string& wrong : {std::string(), std::string(129, 'x'), std::string("a b"),
                                   std::string("a\tb"), std::string("\xc3\xa4")}) {
    EXPECT_NE(answered(true, wrong), wrong);
  }
}

TEST(RequestIdTest, MayHaveAnotherField) {
  const Response response = call(echo({.field = "Trace"}), "GET /");
  EXPECT_TRUE(response.header("Trace"));
  EXPECT_FALSE(response.header("X-Request-Id"));
  EXPECT_THROW((void)request_id({.field = "a b"}), std::invalid_argument);
}

TEST(RequestIdTest, IsNotThereWhereAnOuterGuardAnswered) {
  Router router;
  router.use([](Request&) -> std::optional<Response> { return "early"; });
  router.use(request_id());
  EXPECT_EQ(call(router, "GET /").header("X-Request-Id"), std::nullopt);
}

}  // namespace
}  // namespace skua
