// SPDX-License-Identifier: MIT
#include "skua/router.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "router/tree.hpp"
#include "skua/async.hpp"
#include "skua/http_error.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::call;

std::string body(const Router& router, std::string_view line, std::string_view content = {}) {
  return std::string(call(router, line, content).body());
}

Response shout(const Request& request) { return std::string(request.path()) + "!"; }

TEST(Router, AnswersWithWhatAResponseCanBeMadeOf) {
  static const PreparedResponse borrowed("borrowed");
  Router router;
  router.get("/literal", [] { return "literal"; });
  router.get("/string", [] { return std::string("string"); });
  router.get("/view", [](const Request& request) { return request.target(); });
  router.get("/static", [] { return StaticText("static"); });
  router.get("/status", [] { return Status::NoContent; });
  router.get("/error", [] { return Error(Errc::PermissionDenied); });
  router.get("/result", []() -> Result<std::string> { return Errc::BodyTooLong; });
  router.get("/prepared", PreparedResponse("prepared"));
  router.get("/borrowed", []() -> const PreparedResponse& { return borrowed; });
  router.get("/function", shout);
  EXPECT_EQ(body(router, "GET /literal"), "literal");
  EXPECT_EQ(body(router, "GET /string"), "string");
  EXPECT_EQ(body(router, "GET /view"), "/view");
  EXPECT_EQ(body(router, "GET /static"), "static");
  EXPECT_EQ(call(router, "GET /status").status(), Status::NoContent);
  EXPECT_EQ(call(router, "GET /error").status(), Status::Forbidden);
  EXPECT_EQ(call(router, "GET /result").status(), Status::ContentTooLarge);
  EXPECT_EQ(body(router, "GET /prepared"), "prepared");
  EXPECT_NE(call(router, "GET /prepared").prepared(), nullptr);
  EXPECT_EQ(call(router, "GET /borrowed").prepared(), &borrowed);
  EXPECT_EQ(body(router, "GET /function"), "/function!");
}

TEST(Router, GivesPathParametersAsTheHandlerTypesThem) {
  Router router;
  router.get("/u/{id}", [](int id) { return std::to_string(id + 1); });
  router.get("/s/{a}/{b}", [](Request&, const std::string& a, std::string_view b) {
    return a + ":" + std::string(b);
  });
  router.get("/p/{a}/{rest...}", [](const Request& request) {
    return std::string(*request.param("a")) + "," + std::string(request.param(1)) + "," +
           std::string(request.param("none").value_or("-"));
  });
  router.get("/d/{x}/{y}", [](double x, bool y) { return y ? std::to_string(x) : "no"; });
  EXPECT_EQ(body(router, "GET /u/41"), "42");
  EXPECT_EQ(body(router, "GET /s/x%20y/z"), "x y:z");
  EXPECT_EQ(body(router, "GET /p/1/2/3"), "1,2/3,-");
  EXPECT_EQ(body(router, "GET /d/0.5/false"), "no");
  for (const char* const line : {"GET /u/x", "GET /u/1x", "GET /u/99999999999", "GET /d/1/maybe"}) {
    EXPECT_EQ(call(router, line).status(), Status::NotFound) << line;
  }
}

TEST(Router, KeepsHandlersWithState) {
  Router router;
  {
    auto text = std::make_unique<std::string>("kept");
    router.get("/", [text = std::move(text)] { return *text; });
  }
  const Router moved(std::move(router));
  EXPECT_EQ(body(moved, "GET /"), "kept");
}

TEST(Router, AnswersUnknownPathsAndMethods) {
  Router router;
  router.get("/a", [] { return "get"; }).put("/a", [] { return "put"; }).any("/any", [] {
    return "any";
  });
  EXPECT_EQ(call(router, "GET /b").status(), Status::NotFound);
  EXPECT_EQ(body(router, "GET /a?x=/b"), "get");
  EXPECT_EQ(body(router, "HEAD /a"), "get");
  EXPECT_EQ(body(router, "PATCH /any"), "any");
  const Response refused = call(router, "POST /a");
  EXPECT_EQ(refused.status(), Status::MethodNotAllowed);
  EXPECT_EQ(refused.header("Allow"), "GET, HEAD, PUT, OPTIONS");
}

TEST(Router, PassesMethodsThatAreNotKnownToRoutesForAnyAndForOtherOnes) {
  const auto tell = [](const Request& request) { return std::string(request.method_name()); };
  Router mounted;
  mounted.any("/", tell);
  Router router;
  router.get("/a", tell).any("/any", tell).route(Method::Other, "/other", tell);
  router.route(Method::Query, "/query", tell).mount("/mount", std::move(mounted));
  EXPECT_EQ(body(router, "REPORT /any"), "REPORT");
  EXPECT_EQ(body(router, "QUERY /any"), "QUERY");
  EXPECT_EQ(body(router, "ACL /other"), "ACL");
  EXPECT_EQ(body(router, "PURGE /mount"), "PURGE");
  EXPECT_EQ(body(router, "QUERY /query"), "QUERY");
  for (const std::string path : {"/a", "/query", "/none"}) {
    const Response response = call(router, "REPORT " + path);
    EXPECT_EQ(response.status(), Status::NotImplemented) << path;
  }
  EXPECT_EQ(call(router, "QUERY /a").status(), Status::MethodNotAllowed);
  EXPECT_EQ(call(router, "GET /query").header("Allow"), "OPTIONS, QUERY");
  EXPECT_EQ(call(router, "GET /other").header("Allow"), "OPTIONS");
  EXPECT_THROW(router.route(Method::Other, "/other", tell), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(call(router, "get /any")), std::invalid_argument);
}

TEST(Router, AsksGuardsAboutMethodsThatAreNotKnown) {
  Router router;
  router.get("/a", [] { return "a"; }).any("/any", [] { return "any"; });
  router.use([](Request& request) -> std::optional<Response> {
    if (request.method() == Method::Other) return Status::Forbidden;
    return std::nullopt;
  });
  for (const char* const line : {"REPORT /any", "REPORT /a", "REPORT /none"}) {
    EXPECT_EQ(call(router, line).status(), Status::Forbidden) << line;
  }
}

TEST(Router, AnswersOptionsByItself) {
  Router router;
  router.post("/a", [] { return "a"; }).get("/b", [] { return "b"; });
  router.options("/own", [] { return "own"; });
  const Response asked = call(router, "OPTIONS /a");
  EXPECT_EQ(asked.status(), Status::NoContent);
  EXPECT_EQ(asked.header("Allow"), "POST, OPTIONS");
  EXPECT_EQ(call(router, "OPTIONS *").header("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(call(router, "OPTIONS *").status(), Status::NoContent);
  EXPECT_EQ(body(router, "OPTIONS /own"), "own");
  EXPECT_EQ(call(router, "OPTIONS /none").status(), Status::NotFound);
  EXPECT_EQ(call(router, "OPTIONS *").body(), "");
}

TEST(Router, NamesBothLinesOfAConflict) {
  Router router;
  router.get("/a/{b}", [](int) { return "x"; });
  const int first = __LINE__ - 1;
  try {
    router.get("/a/{c}", [](int) { return "y"; });
    FAIL();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    const std::string file = __FILE__;
    EXPECT_NE(text.find("GET /a/{c} at " + file + ":" + std::to_string(first + 3)), text.npos)
        << text;
    EXPECT_NE(text.find("/a/{b} at " + file + ":" + std::to_string(first)), text.npos) << text;
  }
}

TEST(Router, MountsAnotherRouter) {
  Router inner;
  inner.get("/", [] { return "root"; }).get("/x/{id}", [](int id) { return std::to_string(id); });
  Router outer;
  Router middle;
  middle.mount("/inner", std::move(inner)).get("/y", [] { return "y"; });
  outer.get("/", [] { return "outer"; }).mount("/api/v1", std::move(middle));
  EXPECT_EQ(body(outer, "GET /"), "outer");
  EXPECT_EQ(body(outer, "GET /api/v1/y"), "y");
  EXPECT_EQ(body(outer, "GET /api/v1/inner"), "root");
  EXPECT_EQ(body(outer, "GET /api/v1/inner/"), "root");
  EXPECT_EQ(body(outer, "GET /api/v1/inner/x/5"), "5");
  EXPECT_EQ(call(outer, "GET /inner").status(), Status::NotFound);
  EXPECT_EQ(call(outer, "OPTIONS *").header("Allow"), "GET, HEAD, OPTIONS");
}

TEST(Router, RefusesAMountOnARouteThatIsThere) {
  Router inner;
  inner.get("/x", [] { return "x"; });
  Router outer;
  outer.get("/a/x", [] { return "x"; });
  EXPECT_THROW(outer.mount("/a", std::move(inner)), std::invalid_argument);
}

TEST(Router, LetsExceptionsThrough) {
  Router router;
  router.get("/", []() -> Response { throw HttpError(Status::Conflict, "no"); });
  testing::FakeRequest fake("GET /");
  EXPECT_THROW((void)router.handle(fake.request()), HttpError);
}

class Locked final : public HttpError {
 public:
  Locked() : HttpError(Status::Locked, "later") {}
  void amend(Response& response) const override { response.header("Retry-After", "7"); }
};

TEST(Calls, AnswerWhatIsThrownAsAServerDoes) {
  Router router;
  router.get("/text", []() -> Response { throw HttpError(Status::Conflict, "no"); });
  router.get("/bare", []() -> Response { throw HttpError(Status::NotFound); });
  router.get("/field", []() -> Response { throw Locked(); });
  router.get("/code", []() -> Response { throw Exception(Errc::Overloaded); });
  router.get("/full", []() -> Response { throw std::bad_alloc(); });
  router.get("/other", []() -> Response { throw std::runtime_error("not for the peer"); });
  router.get("/task", []() -> Task<Response> {
    co_await yield();
    throw HttpError(Status::Gone, "left");
  });
  router.use([](const Request& request, Response& response) {
    response.header("X-Seen", std::string(request.path()));
    if (request.path() == "/bare") throw HttpError(Status::MisdirectedRequest, "last");
  });
  router.use([](const Request&, Response& response) { response.header("X-Last", "yes"); });
  struct Row {
    const char* path;
    Status status;
    const char* body;
  };
  for (const Row& row :
       {Row{"/text", Status::Conflict, "no"}, Row{"/field", Status::Locked, "later"},
        Row{"/bare", Status::MisdirectedRequest, "last"}, Row{"/task", Status::Gone, "left"},
        Row{"/code", Status::ServiceUnavailable, nullptr},
        Row{"/full", Status::ServiceUnavailable, nullptr},
        Row{"/other", Status::InternalServerError, nullptr}}) {
    ::testing::internal::CaptureStderr();
    const Response response = call(router, std::string("GET ") + row.path);
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(response.status(), row.status) << row.path;
    if (row.body != nullptr) {
      EXPECT_EQ(response.body(), row.body);
    }
    EXPECT_EQ(response.body().find("peer"), std::string_view::npos);
    EXPECT_EQ(response.header("X-Last"), "yes") << row.path;
    const bool is_other = std::string_view(row.path) == "/other";
    EXPECT_EQ(told, is_other ? "a handler failed on GET /other: not for the peer\n" : "");
  }
  EXPECT_EQ(call(router, "GET /field").header("Retry-After"), "7");
  EXPECT_EQ(call(router, "GET /field").header("X-Seen"), "/field");
  EXPECT_EQ(call(router, "GET /nowhere").header("X-Seen"), "/nowhere");
}

}  // namespace
}  // namespace skua
