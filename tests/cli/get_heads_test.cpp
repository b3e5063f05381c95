// SPDX-License-Identifier: MIT
// Heads and trailers shown by `skua get`: all of those on the wire with --verbose, those of the
// response with --include.
#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "cli/get_fixture.hpp"
#include "http/message/request_parts.hpp"

namespace skua::test {
namespace {

// The lines that begin with `prefix`, without the prefix.
std::string lines_with(std::string_view prefix, std::string_view text) {
  std::string found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(prefix)) found.append(line.substr(prefix.size())).append("\n");
  }
  return found;
}

// The text after the request line.
std::string fields(const std::string& head) { return head.substr(head.find('\n') + 1); }

class GetHeads : public GetFixture {
 protected:
  void SetUp() override {
    // The request as received.
    const auto told = [](const Request& request) {
      std::string text(name(request.method()));
      text.append(" ").append(request.target()).append("\n");
      const http::Head& head = *http::RequestAccess::parts(request).head;
      for (const http::FieldLine& line : head.fields) {
        text.append(head.name(line)).append(": ").append(head.value(line)).append("\n");
      }
      return text;
    };
    router_.get("/told", told);
    router_.post("/told", told);
    router_.get("/moved", [] { return Response::redirect("/told", Status::Found); });
    router_.get("/private", [](const Request& request) {
      if (request.header("Authorization")) return Response("welcome\n");
      return Response(Status::Unauthorized).header("WWW-Authenticate", "Basic realm=\"x\"");
    });
    router_.get("/sum", [] {
      return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
        out.trailer("grpc-status", "0");
        out.trailer("X-Sum", "1");
        co_await out.write("content");
      });
    });
    start_server();
  }
};

TEST_F(GetHeads, ARequestIsShownAsItIsSent) {
  const Ended got = run({"get", url("/told"), "-v", "X-Name:Ada", "q==1"});
  EXPECT_TRUE(contains(got.errors, "> GET /told?q=1 HTTP/1.1\n> Host: 127.0.0.1:"));
  EXPECT_TRUE(contains(got.errors, "\n> Accept: */*\n"));
  EXPECT_EQ(fields(lines_with("> ", got.errors)), fields(got.output)) << got.errors;

  const Ended posted = run({"post", url("/told"), "-v", "a=b"});
  EXPECT_TRUE(contains(posted.errors, "\n> Content-Length: 9\n"));
  EXPECT_EQ(fields(lines_with("> ", posted.errors)), fields(posted.output)) << posted.errors;
}

TEST_F(GetHeads, ARequestOfHttp2IsShownAsItIsSent) {
  const Ended got = run({"get", url("/told"), "-v", "--http2", "X-Name:Ada", "Cookie:a=1; b=2"});
  if (got.code != 0) GTEST_SKIP() << got.errors;  // built without nghttp2
  const std::string sent = lines_with("> ", got.errors);
  EXPECT_TRUE(sent.starts_with("GET /told HTTP/2\nhost: 127.0.0.1:")) << sent;
  EXPECT_TRUE(contains(sent, "\naccept: */*\n"));
  EXPECT_TRUE(contains(sent, "\nx-name: Ada\ncookie: ...\ncookie: ...\n"));
  EXPECT_TRUE(contains(got.errors, "< HTTP/2 200 OK\n"));
}

TEST_F(GetHeads, HeadsOnTheWayToTheAnswerAreShown) {
  const Ended moved = run({"get", url("/moved"), "-v"});
  std::size_t at = 0;
  for (const std::string_view line :
       {"> GET /moved HTTP/1.1\n", "< HTTP/1.1 302 Found\n", "< Location: /told\n",
        "> GET /told HTTP/1.1\n", "< HTTP/1.1 200 OK\n"}) {
    at = moved.errors.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << " is not where it should be in " << moved.errors;
  }
  const Ended asked = run({"get", url("/private"), "-v", "--auth", "a:b", "--digest"});
  EXPECT_TRUE(contains(asked.errors, "< HTTP/1.1 401 Unauthorized\n"));
  EXPECT_TRUE(contains(asked.errors, "> Authorization: ...\n"));
  EXPECT_TRUE(contains(asked.errors, "< HTTP/1.1 200 OK\n"));
}

TEST_F(GetHeads, SecretsAreHiddenUnlessAskedFor) {
  router_.get("/cookie", [] {
    return Response("set").header("Set-Cookie", "sid=secret; Path=/").header("Set-Cookie", "odd");
  });
  start_server();
  const std::vector<std::string> words{"get", url("/cookie"), "-a", "user:pass", "Cookie:a=secret"};
  std::vector<std::string> verbose = words;
  verbose.emplace_back("-v");
  const Ended hidden = run(verbose);
  EXPECT_TRUE(contains(hidden.errors, "> Authorization: ...\n"));
  EXPECT_TRUE(contains(hidden.errors, "> Cookie: ...\n"));
  EXPECT_TRUE(contains(hidden.errors, "< Set-Cookie: sid=...; Path=/\n"));
  EXPECT_TRUE(contains(hidden.errors, "< Set-Cookie: ...\n"));
  EXPECT_EQ(hidden.errors.find("secret"), std::string::npos);
  verbose.back() = "-vv";
  const Ended shown = run(verbose);
  EXPECT_TRUE(contains(shown.errors, "> Authorization: Basic dXNlcjpwYXNz\n"));
  EXPECT_TRUE(contains(shown.errors, "> Cookie: a=secret\n"));
  EXPECT_TRUE(contains(shown.errors, "< Set-Cookie: sid=secret; Path=/\n"));
}

TEST_F(GetHeads, EachRetryIsShown) {
  std::atomic<unsigned> count = 0;
  router_.get("/busy", [&count] {
    return ++count == 1 ? Response(Status::ServiceUnavailable) : Response("ok");
  });
  start_server();
  for (const std::string output : {"-", "file"}) {
    count = 0;
    const Ended ended =
        run({"get", url("/busy"), "-v", "--retry", "1", "--retry-delay", "0.01", "-o", output});
    std::size_t at = 0;
    for (const std::string_view line :
         {"> GET /busy", "< HTTP/1.1 503", "retrying in", "> GET /busy", "< HTTP/1.1 200"}) {
      at = ended.errors.find(line, at);
      ASSERT_NE(at, std::string::npos) << line << " is not where it should be in " << ended.errors;
      ++at;
    }
  }
}

TEST_F(GetHeads, ARequestWithoutAnAnswerIsShown) {
  router_.get("/none", [](Request&) -> Task<Response> {
    co_await sleep(1h);
    co_return "late";
  });
  start_server();
  const Ended ended = run({"get", url("/none"), "-v", "--timeout", "0.2"});
  EXPECT_NE(ended.code, 0);
  EXPECT_TRUE(contains(ended.errors, "> GET /none HTTP/1.1\n"));
}

TEST_F(GetHeads, DownloadsShowThemToo) {
  const Ended saved = run({"get", url("/moved"), "-v", "-o", "file"});
  EXPECT_TRUE(contains(saved.errors, "> GET /moved HTTP/1.1\n"));
  EXPECT_TRUE(contains(saved.errors, "< HTTP/1.1 302 Found\n"));
  EXPECT_TRUE(contains(saved.errors, "> GET /told HTTP/1.1\n"));
}

TEST_F(GetHeads, TrailersAreBehindTheContent) {
  const Ended included = run({"get", url("/sum"), "-i"});
  EXPECT_TRUE(included.output.ends_with("\n\ncontent\ngrpc-status: 0\nX-Sum: 1\n"))
      << included.output;
  const Ended verbose = run({"get", url("/sum"), "-v"});
  EXPECT_EQ(verbose.output, "content");
  EXPECT_TRUE(contains(verbose.errors, "<\n< grpc-status: 0\n< X-Sum: 1\n"));
  EXPECT_EQ(run({"get", url("/sum")}).output, "content");
}

}  // namespace
}  // namespace skua::test
