// SPDX-License-Identifier: MIT
// Faults of the server's own machine: the client gets a status that does not blame it, and the log
// gets the rest, with what finds the request again and without its secrets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::TestServer;

constexpr const char* trace = "4bf92f3577b34da6a3ce929d0e0e4736";

class Faults : public ::testing::Test {
 protected:
  Faults() {
    options_.hooks.log = [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock(mutex_);
      if (level >= LogLevel::Warning) lines_.append(line).append("\n");
    };
  }
  testing::Answer ask(const Router& router, const std::string& target,
                      const std::string& method = "GET") {
    lines_.clear();
    TestServer server(router, BackendChoice::Auto, options_);
    std::optional<testing::Answer> answer;
    {
      testing::Client client = server.connect();
      client.send(method + " " + target +
                  " HTTP/1.1\r\nHost: a\r\nX-Request-Id: 4f2a\r\ntraceparent: 00-" + trace +
                  "-00f067aa0ba902b7-01\r\nContent-Length: 2\r\n\r\nhi");
      answer = client.answer();
    }
    EXPECT_TRUE(answer);
    server->shutdown();
    return answer.value_or(testing::Answer{});
  }

  ServerOptions options_;
  std::mutex mutex_;
  std::string lines_;
};

TEST_F(Faults, AnErrorHasAStatusThatBlamesWhoeverIsToBlame) {
  const Error missing = Error::from_system(ENOENT, "open");
  const Error forbidden = Error::from_system(EACCES, "open");
  struct Row {
    Error error;
    int status;
    std::string line{};  // empty: none
    std::string body{};
  };
  const std::vector<Row> rows{
      {missing, 500, "500 to GET /: " + missing.message(), "the operating system failed"},
      {forbidden, 500, "500 to GET /: " + forbidden.message(), "the operating system failed"},
      {Error::from_system(EIO, "read"), 500, "500 to GET /: "},
      {Error::from_system(ENOSPC, "write"), 507, "507 to GET /: "},
#if defined(EDQUOT)
      {Error::from_system(EDQUOT, "write"), 507, "507 to GET /: "},
#endif
      {Error(Errc::Refused, "connect"), 502, "502 to GET /: "},
      {Error::from_system(EMFILE, "open"), 503, "503 to GET /: "},
      {Errc::NotFound, 404},
      {Errc::PermissionDenied, 403},
      {Errc::BodyTooLong, 413},
      {Errc::Unsupported, 501},
      {Errc::Overloaded, 503},
  };
  for (const Row& row : rows) {
    // Each way that leads to a response.
    Router returned;
    returned.get("/", [&row] { return row.error; });
    Router result;
    result.get("/", [&row]() -> Result<std::string> { return row.error; });
    Router thrown;
    thrown.get("/", [&row]() -> std::string { throw Exception(row.error); });
    Router coroutine;
    coroutine.get("/", [&row](Request&) -> Task<Response> { co_return row.error; });
    Router amended;
    amended.use(problem_details());
    amended.get("/", [&row] { return row.error; });
    Router guarded;
    guarded.use([&row](Request&) -> std::optional<Response> { return Response(row.error); });
    guarded.get("/", [] { return "never"; });
    for (const Router* const router :
         {&returned, &result, &thrown, &coroutine, &amended, &guarded}) {
      const testing::Answer answer = ask(*router, "/");
      EXPECT_EQ(answer.status, row.status) << row.error.message();
      if (!row.body.empty()) {
        EXPECT_NE(answer.body.find(row.body), std::string::npos) << answer.body;
      }
      EXPECT_EQ(answer.body.find("open:"), std::string::npos) << "the context is for the log";
      if (row.line.empty()) {
        EXPECT_EQ(lines_, "");
      } else {
        EXPECT_TRUE(lines_.starts_with(row.line)) << lines_;
        EXPECT_EQ(std::ranges::count(lines_, '\n'), 1) << lines_;
      }
    }
  }
}

TEST_F(Faults, AFolderThatIsGoneIsNotTheClients) {
  const support::TemporaryDirectory folder;
  Router router;
  router.use(request_id({.trust_incoming = true}));
  router.post("/", [&folder](Request& request) -> Task<Response> {
    const auto saved = co_await request.save((folder / "gone/file").string());
    if (!saved) co_return saved.error();
    co_return Status::Created;
  });
  EXPECT_EQ(ask(router, "/?token=secret", "POST").status, 500);
  EXPECT_TRUE(lines_.starts_with("500 to POST /?token=*** [request 4f2a]: ")) << lines_;
}

TEST_F(Faults, LinesHaveTheRequestAndItsTraceAndNoSecret) {
  Router router;
  router.use(request_id({.trust_incoming = true}));
  router.use(tracing());
  router.get("/thrown", []() -> std::string { throw std::runtime_error("it broke"); });
  router.get("/reason", []() -> std::string {
    throw HttpError(Status::Conflict, "busy", "the row is locked");
  });
  const std::string where =
      "?access_token=***&page=3 [request 4f2a] [trace " + std::string(trace) + "]: ";
  EXPECT_EQ(ask(router, "/thrown?access_token=SECRET&page=3").status, 500);
  EXPECT_EQ(lines_, "a handler failed on GET /thrown" + where + "it broke\n");
  EXPECT_EQ(ask(router, "/reason?access_token=SECRET&page=3").status, 409);
  EXPECT_EQ(lines_, "GET /reason" + where + "the row is locked\n");
}

}  // namespace
}  // namespace skua
