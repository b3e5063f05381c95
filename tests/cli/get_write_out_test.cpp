// SPDX-License-Identifier: MIT
// `skua get --write-out`: a text about each request, in the words of curl.
#include <sys/stat.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/blunt_server.hpp"
#include "cli/get_fixture.hpp"
#include "get/json_printer.hpp"

namespace skua::test {
namespace {

class GetWriteOut : public GetFixture {
 protected:
  void SetUp() override {
    router_.post("/a", [] { return "12345"; });
    router_.get("/a", [] { return "content"; });
    router_.get("/to-a", [] { return Response::redirect("/a", Status::Found); });
    router_.get("/fields", [] {
      return Response("x").add_header("X-Twice", "1").add_header("X-Twice", "2 \"\xff");
    });
    router_.get("/none", [] { return Response(Status::NotFound); });
    start_server();
  }
  std::string port() const { return std::to_string(server_->port()); }
};

TEST_F(GetWriteOut, KnowsTheRequest) {
  const Ended ended = run(
      {"post", url("/a"), "n=Ada", "-w",
       "|%{http_code} %{response_code} %{size_download} %{size_upload} %{http_version} %{method} "
       "%{num_redirects} %{num_retries} %{remote_ip}:%{remote_port} %{exitcode}|%{content_type}|"
       "%{url}|%{url_effective}|%{filename_effective}|%{errormsg}|\\n"});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_EQ(ended.output, "12345|200 200 5 11 1.1 POST 0 0 127.0.0.1:" + port() +
                              " 0|text/plain; charset=utf-8|" + url("/a") + "|" + url("/a") +
                              "|||\n");
  EXPECT_EQ(ended.errors, "");
}

TEST_F(GetWriteOut, TimesAreInOrder) {
  const Ended ended = run({"get", url("/a"), "-o", "file", "-q", "-w",
                           "%{time_namelookup} %{time_connect} %{time_pretransfer} "
                           "%{time_starttransfer} %{time_total}"});
  std::istringstream times(ended.output);
  double before = 0;
  int count = 0;
  for (double time = 0; times >> time; ++count) {
    EXPECT_LE(before, time) << ended.output;
    before = time;
  }
  EXPECT_EQ(count, 5) << ended.output;
  EXPECT_EQ(run({"get", url("/a"), "-o", "-", "-w", "%{time_appconnect}"}).output,
            "content0.000000");
}

TEST_F(GetWriteOut, FollowsRedirectsAndSavesFiles) {
  const Ended ended = run({"get", url("/to-a"), "-d", "-q", "-w",
                           "%{num_redirects} %{url} %{url_effective} %{filename_effective}\\n"});
  EXPECT_EQ(ended.output, "1 " + url("/to-a") + " " + url("/a") + " to-a\n");
  const Ended two = run({"get", url("/a"), url("/none"), "-q", "-w", "=%{http_code};"});
  EXPECT_EQ(two.output, "content=200;404 Not Found\n=404;");
}

TEST_F(GetWriteOut, FieldsOfTheResponse) {
  const Ended ended =
      run({"get", url("/fields"), "-w", "|%header{x-twice}|%header{X-None}|%{header_json}"});
  EXPECT_TRUE(ended.output.starts_with("x|1||{")) << ended.output;
  const std::string json = ended.output.substr(ended.output.find('{'));
  EXPECT_TRUE(cli::is_json(json)) << json;
  EXPECT_TRUE(contains(json, "\"x-twice\":[\"1\",\"2 \\\""));
  EXPECT_TRUE(contains(json, "\"content-length\":[\"1\"]"));
}

TEST_F(GetWriteOut, FailuresHaveNoStatus) {
  const ClosedPort closed;
  const std::string at = "http://u:secret@127.0.0.1:" + std::to_string(closed.number()) + "/";
  const Ended ended = run(
      {"get", at, "-w",
       "%{http_code} %{exitcode} %{http_version} %{remote_port} [%{remote_ip}] %{url_effective}"});
  EXPECT_EQ(ended.code, 7);
  EXPECT_EQ(ended.output, "000 7 0 0 [] http://127.0.0.1:" + std::to_string(closed.number()) + "/");
  EXPECT_EQ(run({"get", url("/none"), "--fail", "-o", "-", "-w", "%{exitcode}"}).output,
            "404 Not Found\n4");
}

TEST_F(GetWriteOut, EscapesAndPlainText) {
  EXPECT_EQ(run({"get", url("/a"), "-w", "\\n\\t\\r\\\\n %% 5%%{x} 100% \\x"}).output,
            "content\n\t\r\\n % 5%{x} 100% \\x");
  EXPECT_EQ(run({"get", url("/a"), "-w", ""}).output, "content");
}

TEST_F(GetWriteOut, UnknownWordsAreRefusedBeforeAnythingIsSent) {
  const Ended ended = run({"get", url("/a"), "-w", "%{http_code} %{htp_code}"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.output, "");
  for (const std::string_view part : {"--write-out", "'%{htp_code}' is unknown", " http_code,",
                                      " time_total,", "%header{NAME}"}) {
    EXPECT_TRUE(contains(ended.errors, part));
  }
  for (const char* const open : {"%{http_code", "%header{x"}) {
    const Ended refused = run({"get", url("/a"), "-w", open});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.errors, "has no closing brace"));
  }
  EXPECT_EQ((*server_)->counters().requests, 0U);
}

TEST_F(GetWriteOut, CurlHasTheSame) {
  const Ended ended = run({"curl", "-s", "-o", "file", "-w", "%{http_code}\\n", url("/a")});
  EXPECT_EQ(ended.output, "200\n") << ended.errors;
  EXPECT_EQ(content("file"), "content");
  EXPECT_EQ(run({"curl", "-w", "%{nothing}", url("/a")}).code, 2);
  EXPECT_TRUE(contains(run({"curl", "-w", "@file", url("/a")}).errors, "--write-out: "));
}

// Reports about a request stay the same, whatever takes the content.
TEST_F(GetFixture, ReportsDoNotGoWhereContentGoes) {
  router_.get("/a", [] { return "content"; });
  start_server();
  const std::string fifo = (folder_ / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  struct Output {
    const char* name;
    bool is_standard = false;  // content is on standard output
  };
  const Output outputs[] = {{"-", true}, {"/dev/stdout", true}, {"/dev/null"},  {"fifo"},
                            {"file"},    {"folder/link"},       {"/dev/stderr"}};
  folder_.write("folder/target", "");
  folder_.link("target", "folder/link");
  for (const auto& [name, is_standard] : outputs) {
    for (const bool has_head : {false, true}) {
      std::vector<std::string> words{
          "get", "-q", "-o", name, "-w", "<%{http_code}>", "--json-report=report", url("/a")};
      if (has_head) words.emplace_back("-i");
      const auto process = start(words);
      std::string from_fifo;
      if (std::string_view(name) == "fifo") from_fifo = content("fifo");  // to its end
      const Ended ended = end(process);
      EXPECT_EQ(ended.code, 0) << name << ended.errors;
      EXPECT_TRUE(ended.output.ends_with("<200>")) << name << ended.output;
      EXPECT_EQ(ended.output.starts_with("HTTP/1.1 200 OK\n"), has_head) << name << ended.output;
      EXPECT_EQ(ended.output.find("content<200>") != std::string::npos, is_standard) << name;
      EXPECT_TRUE(contains(content("report"), "\"status\":200")) << name;
      EXPECT_EQ(from_fifo, std::string_view(name) == "fifo" ? "content" : "") << name;
      EXPECT_EQ(ended.errors == "content", std::string_view(name) == "/dev/stderr") << ended.errors;
    }
  }
  EXPECT_EQ(content("file"), "content");
  EXPECT_EQ(content("folder/target"), "content");
}

TEST_F(GetFixture, DotSegmentsAreRemoved) {
  router_.get("/{path...}", [](Request& request) { return std::string(request.target()); });
  start_server();
  for (const auto& [path, target] :
       {std::pair("/a/../b", "/b"), std::pair("/a/./b/?x=/../y", "/a/b/?x=/../y"),
        std::pair("/../../etc", "/etc"), std::pair("/a/..", "/")}) {
    EXPECT_EQ(run({"get", url(path)}).output, target);
    EXPECT_EQ(run({"curl", url(path)}).output, target);
  }
  const Ended as_is = run({"get", "--path-as-is", "--offline", url("/a/../b")});
  EXPECT_TRUE(as_is.output.starts_with("GET /a/../b HTTP/1.1\r\n")) << as_is.output;
}

}  // namespace
}  // namespace skua::test
