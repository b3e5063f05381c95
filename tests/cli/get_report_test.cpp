// SPDX-License-Identifier: MIT
// `skua get --json-report`: a line of JSON about each request.
#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "cli/blunt_server.hpp"
#include "cli/get_fixture.hpp"
#include "get/json_printer.hpp"

namespace skua::test {
namespace {

// The members of the report, in the order of the guide.
constexpr std::string_view members[] = {"url",
                                        "final_url",
                                        "method",
                                        "status",
                                        "http_version",
                                        "redirects",
                                        "retries",
                                        "hops",
                                        "seconds",
                                        "sent_head_bytes",
                                        "sent_content_bytes",
                                        "received_head_bytes",
                                        "received_content_bytes",
                                        "remote_address",
                                        "tls_version",
                                        "tls_cipher",
                                        "failure",
                                        "message",
                                        "exit_code"};

class GetReport : public GetFixture {
 protected:
  // Runs a command whose only error output is one report.
  std::string report(std::vector<std::string> words, int code = 0) {
    words.emplace_back("--json-report");
    words.emplace_back("-q");
    const Ended ended = run(std::move(words));
    EXPECT_EQ(ended.code, code) << ended.errors;
    const std::size_t at = ended.errors.find("{\"url\"");
    const std::string line = at == ended.errors.npos ? "" : ended.errors.substr(at);
    EXPECT_TRUE(cli::is_json(line)) << ended.errors;
    EXPECT_EQ(std::ranges::count(line, '\n'), 1) << line;
    std::size_t place = 0;
    for (const std::string_view member : members) {
      place = line.find("\"" + std::string(member) + "\":", place);
      EXPECT_NE(place, std::string::npos) << member << " is not where it should be in " << line;
    }
    return line;
  }
};

TEST_F(GetReport, ARequestIsReported) {
  router_.post("/a", [] { return "12345"; });
  start_server();
  const std::string line = report({"post", url("/a?b=1"), "n=Ada"});
  for (const std::string& part :
       {"{\"url\":\"" + url("/a?b=1") + "\",\"final_url\":\"" + url("/a?b=1") + "\"",
        std::string("\"method\":\"POST\",\"status\":200,\"http_version\":\"1.1\",\"redirects\":0,"
                    "\"retries\":0,\"hops\":[{\"method\":\"POST\""),
        std::string("\"sent_content_bytes\":11,"), std::string("\"received_content_bytes\":5,"),
        "\"remote_address\":\"127.0.0.1:" + std::to_string(server_->port()) + "\"",
        std::string("\"tls_version\":null,\"tls_cipher\":null,\"failure\":null,\"message\":null,"
                    "\"exit_code\":0}")}) {
    EXPECT_TRUE(contains(line, part));
  }
  EXPECT_EQ(line.find("\"connect\":null"), std::string::npos);
  EXPECT_TRUE(contains(line, "\"tls\":null"));
}

TEST_F(GetReport, HopsAreInOrder) {
  router_.get("/a", [] { return Response::redirect("/b", Status::Found); });
  router_.get("/b", [](const Request& request) {
    if (request.header("Authorization")) return Response("welcome");
    return Response(Status::Unauthorized).header("WWW-Authenticate", "Basic realm=\"x\"");
  });
  start_server();
  const std::string line = report({"get", url("/a"), "-a", "u:secret", "--digest"});
  std::size_t at = 0;
  for (const std::string& part : {"\"final_url\":\"" + url("/b"), std::string("\"redirects\":1,"),
                                  "\"url\":\"" + url("/a") + "\",\"status\":302,",
                                  "\"url\":\"" + url("/b") + "\",\"status\":401,",
                                  "\"url\":\"" + url("/b") + "\",\"status\":200,"}) {
    at = line.find(part, at);
    ASSERT_NE(at, line.npos) << part << " is not where it should be in " << line;
  }
  EXPECT_EQ(line.find("secret"), line.npos);
}

TEST_F(GetReport, FailuresHaveAKind) {
  router_.get("/none", [] { return Response(Status::NotFound); });
  start_server();
  EXPECT_TRUE(
      contains(report({"get", url("/none"), "--fail"}, 4), "\"failure\":\"client_status\""));
  EXPECT_TRUE(contains(report({"get", url("/none")}), "\"failure\":null"));
  const ClosedPort closed;
  const std::string at = "127.0.0.1:" + std::to_string(closed.number());
  const std::string refused = report({"get", "http://u:secret@" + at + "/"}, 7);
  EXPECT_TRUE(contains(refused,
                       "\"final_url\":null,\"method\":\"GET\",\"status\":null,"
                       "\"http_version\":null,"));
  EXPECT_TRUE(contains(refused, "\"failure\":\"connection\",\"message\":\""));
  EXPECT_EQ(refused.find("secret"), refused.npos);
}

TEST_F(GetReport, BytesOfHostilePeersAreValidJson) {
  const BluntServer hostile([](std::string_view) {
    return BluntServer::Answer{
        "HTTP/1.1 302 \xff\"\\\r\nLocation: \xff\xfe\"{\r\nContent-Length: 0\r\n\r\n", true};
  });
  const std::string at = "127.0.0.1:" + std::to_string(hostile.port());
  report({"get", at + "/{}"}, 10);
  const BluntServer broken(
      [](std::string_view) { return BluntServer::Answer{"\x01\xff\"garbage\r\n\r\n", true}; });
  report({"get", "127.0.0.1:" + std::to_string(broken.port())}, 10);
}

TEST_F(GetReport, RetriesAreCounted) {
  std::atomic<unsigned> count = 0;
  router_.get("/", [&count] {
    return ++count == 1 ? Response(Status::ServiceUnavailable) : Response("ok");
  });
  start_server();
  const std::string line = report({"get", url("/"), "--retry", "2", "--retry-delay", "0.01"});
  EXPECT_TRUE(contains(line, "\"status\":200,"));
  EXPECT_TRUE(contains(line, "\"retries\":1,"));
  EXPECT_TRUE(contains(line, "\"status\":503,"));
}

TEST_F(GetReport, AFileGetsALineForEachUrl) {
  router_.get("/a", [] { return "a"; });
  router_.get("/b", [] { return "b"; });
  start_server();
  folder_.write("report", "old");
  const Ended ended = run({"get", url("/a"), url("/b"), "--json-report=report"});
  EXPECT_EQ(ended.output, "ab");
  EXPECT_EQ(ended.errors, "");
  EXPECT_EQ(std::ranges::count(content("report"), '\n'), 2);
  EXPECT_TRUE(content("report").starts_with("{\"url\":\"" + url("/a")));
  const Ended saved = run({"get", url("/a"), url("/b"), "-d", "-q", "--json-report=report"});
  EXPECT_EQ(saved.errors, "");
  EXPECT_EQ(std::ranges::count(content("report"), '\n'), 2);
  EXPECT_TRUE(contains(content("report"), "\"received_content_bytes\":1,"));
  EXPECT_TRUE(exists("a"));
  EXPECT_EQ(run({"get", url("/a"), "--json-report=none/report"}).code, 11);
}

}  // namespace
}  // namespace skua::test
