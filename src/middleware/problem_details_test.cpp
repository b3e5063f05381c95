// SPDX-License-Identifier: MIT
#include "skua/problem_details.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "skua/http_error.hpp"
#include "skua/middleware.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;
using Json = nlohmann::json;

Router router(const ProblemDetailsOptions& options = {}) {
  Router made;
  made.use(problem_details(options));
  made.get("/status", [] { return Status::Conflict; });
  made.get("/text", [] { return Response(Status::Forbidden, "ask \"Ada\"\n"); });
  made.get("/html", [] { return Response(Status::Forbidden, "<p>no", "text/html"); });
  made.get("/json", [] { return Response(Status::Forbidden, "{}", "application/json"); });
  made.get("/good", [] { return "fine"; });
  made.get("/empty", [] { return Response(Status::Forbidden, ""); });
  return made;
}

Response ask(const Router& made, std::string_view line, std::string_view accept = {}) {
  FakeRequest fake(line);
  if (!accept.empty()) fake.header("Accept", accept);
  return made.handle(fake.request());
}

TEST(ProblemDetails, RewritesTextsOfErrors) {
  const Router made = router();
  const Response none = ask(made, "GET /nowhere");
  EXPECT_EQ(none.status(), Status::NotFound);
  EXPECT_EQ(none.content_type(), "application/problem+json");
  EXPECT_EQ(none.body(), R"({"type":"about:blank","title":"Not Found","status":404})");
  EXPECT_EQ(none.header("Vary"), "Accept");
  EXPECT_EQ(Json::parse(ask(made, "GET /status").body())["status"], 409);
  EXPECT_EQ(Json::parse(ask(made, "POST /status").body())["title"], "Method Not Allowed");
  const Json text = Json::parse(ask(made, "GET /text").body());
  EXPECT_EQ(text["title"], "Forbidden");
  EXPECT_EQ(text["detail"], "ask \"Ada\"");
}

TEST(ProblemDetails, LeavesEverythingElse) {
  const Router made = router();
  EXPECT_EQ(ask(made, "GET /html").body(), "<p>no");
  EXPECT_EQ(ask(made, "GET /json").content_type(), "application/json");
  EXPECT_EQ(ask(made, "GET /good").body(), "fine");
  EXPECT_EQ(ask(made, "GET /empty").body(), "");
}

TEST(ProblemDetails, FollowsAccept) {
  const Router made = router();
  const Router shy = router({.is_default = false});
  const auto is_json = [](const Response& response) {
    return response.content_type() == "application/problem+json";
  };
  constexpr std::string_view browser = "text/html,application/xhtml+xml,*/*;q=0.8";
  EXPECT_TRUE(is_json(ask(made, "GET /status", "*/*")));
  EXPECT_TRUE(is_json(ask(made, "GET /status", "application/json")));
  EXPECT_TRUE(is_json(ask(made, "GET /status", "application/problem+json")));
  EXPECT_FALSE(is_json(ask(made, "GET /status", browser)));
  EXPECT_FALSE(is_json(ask(made, "GET /status", "text/plain")));
  EXPECT_FALSE(is_json(ask(made, "GET /status", "image/png")));
  EXPECT_EQ(ask(made, "GET /status", browser).header("Vary"), "Accept");
  EXPECT_FALSE(is_json(ask(shy, "GET /status", "*/*")));
  EXPECT_TRUE(is_json(ask(shy, "GET /status", "application/json")));
}

TEST(ProblemDetails, NamesTheRequest) {
  Router made;
  made.use(problem_details());
  made.use(request_id());
  const Response response = ask(made, "GET /");
  EXPECT_EQ(Json::parse(response.body())["request_id"], *response.header("X-Request-Id"));
}

}  // namespace
}  // namespace skua
