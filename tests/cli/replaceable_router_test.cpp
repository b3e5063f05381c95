// SPDX-License-Identifier: MIT
#include "serve/settings/replaceable_router.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "router/tree.hpp"
#include "skua/async.hpp"
#include "skua/testing.hpp"

namespace skua::cli {
namespace {

using skua::testing::call;
using skua::testing::FakeRequest;

Router answering(const std::string& text) {
  Router router;
  router.get("/{path...}", [text](const Request& request) {
    return text + " " + std::string(request.param("path").value_or(""));
  });
  return router;
}

TEST(ReplaceableRouter, PassesRequestsOnWithTheirCaptures) {
  const ReplaceableRouter router(answering("first"));
  EXPECT_EQ(call(router.front(), "GET /a/b").body(), "first a/b");
  EXPECT_EQ(call(router.front(), "POST /a").status(), Status::MethodNotAllowed);
  EXPECT_EQ(call(router.front(), "OPTIONS *").header("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(call(router.front(), "GET /", "content").body(), "first ");
}

TEST(ReplaceableRouter, LaterRequestsSeeTheOtherRouter) {
  ReplaceableRouter router(answering("first"));
  EXPECT_EQ(call(router.front(), "GET /").body(), "first ");
  router.replace(answering("second"));
  EXPECT_EQ(call(router.front(), "GET /").body(), "second ");
  router.replace(Router());
  EXPECT_EQ(call(router.front(), "GET /").status(), Status::NotFound);
}

TEST(ReplaceableRouter, RunsGuardsAndFinishersOfTheCurrentRouter) {
  Router guarded = answering("guarded");
  guarded.use([](Request& request) -> std::optional<Response> {
    if (request.header("Authorization")) return std::nullopt;
    return Status::Unauthorized;
  });
  guarded.use([](const Request&, Response& response) { response.header("X-A", "finished"); });
  ReplaceableRouter router(std::move(guarded));
  EXPECT_EQ(call(router.front(), "GET /").status(), Status::Unauthorized);
  EXPECT_EQ(call(router.front(), "GET /").header("X-A"), "finished");
  router.replace(answering("open"));
  EXPECT_EQ(call(router.front(), "GET /").body(), "open ");
  EXPECT_EQ(call(router.front(), "GET /").header("X-A"), std::nullopt);
}

TEST(ReplaceableRouter, ARequestEndsWithTheRouterThatItBeganWith) {
  const auto lives = std::make_shared<int>(1);
  std::optional<ReplaceableRouter> router;
  Router first;
  first.get("/", [lives, &router](const Request&) -> Task<Response> {
    router->replace(answering("second"));
    co_await yield();
    co_return std::to_string(*lives);
  });
  first.use([lives](const Request&, Response& response) {
    response.header("X-A", std::to_string(*lives));
  });
  router.emplace(std::move(first));
  {
    FakeRequest fake("GET /");
    const Response response = router->front().handle(fake.request());
    EXPECT_EQ(response.body(), "1");
    EXPECT_EQ(response.header("X-A"), "1");
    EXPECT_EQ(call(router->front(), "GET /").body(), "second ");
    EXPECT_GT(lives.use_count(), 1) << "the request still has its router";
  }
  EXPECT_EQ(lives.use_count(), 1) << "nothing else has it";
}

}  // namespace
}  // namespace skua::cli
