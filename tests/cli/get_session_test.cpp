// SPDX-License-Identifier: MIT
// `skua get --session`: cookies and headers that are kept between commands.
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/get_fixture.hpp"
#include "get/session.hpp"

namespace skua::test {
namespace {

TEST(SessionName, PathsAreRefused) {
  for (const char* const name : {"a", "A-b_c.1", "0"}) EXPECT_TRUE(cli::is_session_name(name));
  for (const char* const name :
       {"", ".", "..", ".a", "a/b", "../a", "/a", "a\\b", "C:a", "a b", "a\n", "\xc3\xa9"}) {
    EXPECT_FALSE(cli::is_session_name(name)) << name;
  }
  EXPECT_TRUE(cli::is_session_name(std::string(64, 'a')));
  EXPECT_FALSE(cli::is_session_name(std::string(65, 'a')));
}

class GetSession : public GetFixture {
 protected:
  void SetUp() override {
    router_.get("/set", [] { return Response("set\n").header("Set-Cookie", "sid=7; Path=/"); });
    router_.get("/told", [](const Request& request) {
      const auto told = [&request](std::string_view name) {
        return std::string(name) + "=" + std::string(request.header(name).value_or("")) + "\n";
      };
      return told("Cookie") + told("X-Token") + told("If-Match") + told("Content-Type");
    });
    start_server();
  }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return folder_ / ("config/skua/sessions/http-127.0.0.1-" + std::to_string(server_->port()) +
                      "/" + name + ".txt");
  }
  [[nodiscard]] std::string kept(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

TEST_F(GetSession, CookiesAndHeadersAreKept) {
  const Ended first = run({"get", url("/set"), "--session", "a", "X-Token:1", "-H",
                           "If-Match: \"x\"", "Content-Type:a/b", "Cookie:other=1"});
  EXPECT_EQ(first.code, 0) << first.errors;
  EXPECT_EQ(run({"get", url("/told"), "--session", "a"}).output,
            "Cookie=sid=7\nX-Token=1\nIf-Match=\nContent-Type=\n");
  EXPECT_EQ(run({"get", url("/told"), "--session", "b"}).output,
            "Cookie=\nX-Token=\nIf-Match=\nContent-Type=\n");
  EXPECT_EQ(run({"get", url("/told"), "--session", "a", "X-Token:2"}).output,
            "Cookie=sid=7\nX-Token=2\nIf-Match=\nContent-Type=\n");
  EXPECT_TRUE(contains(kept("a"), "\n#header X-Token: 2\n"));
  EXPECT_EQ(run({"get", url("/told"), "--session", "a", "X-Token:"}).code, 0);
  EXPECT_EQ(kept("a").find("X-Token"), std::string::npos);
  EXPECT_TRUE(contains(kept("a"), "\tsid\t7\n"));
}

TEST_F(GetSession, OnlyTheOwnerCanReadIt) {
  run({"get", url("/set"), "--session", "a"});
  struct stat about{};
  ASSERT_EQ(::stat(file("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
  ASSERT_EQ(::stat(file("a").parent_path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0700U);
}

TEST_F(GetSession, AReadOnlySessionStays) {
  run({"get", url("/set"), "--session", "a", "X-Token:1"});
  const std::string before = kept("a");
  const Ended used =
      run({"get", url("/told"), "--session", "a", "--session-read-only", "X-Token:2"});
  EXPECT_TRUE(contains(used.output, "Cookie=sid=7\nX-Token=2\n"));
  EXPECT_EQ(kept("a"), before);
  run({"get", url("/told"), "--session", "none", "--session-read-only"});
  EXPECT_FALSE(std::filesystem::exists(file("none")));
}

TEST_F(GetSession, BadSessionsAreRefused) {
  const auto refused = [this](std::vector<std::string> words, int code) {
    words.insert(words.begin(), {"get", url("/told")});
    const Ended ended = run(std::move(words));
    EXPECT_EQ(ended.code, code) << ended.errors;
    return ended.errors;
  };
  EXPECT_TRUE(contains(refused({"--session", "../x"}, 2), "'../x' is not a name"));
  EXPECT_TRUE(contains(refused({"--session-read-only"}, 2), "needs --session"));
  EXPECT_TRUE(contains(refused({"--session", "a", "--cookie-jar", "b"}, 2), "cannot be used"));
  EXPECT_TRUE(contains(refused({"http://b.test/", "--session", "a"}, 2), "of one server only"));
  std::filesystem::create_directories(file("folder"));
  EXPECT_TRUE(contains(refused({"--session", "folder"}, 2), "not a regular file"));
  std::ofstream(file("odd")) << "#header no colon\n#header Cookie: a=b\n#header X: \x01\nnonsense\n"
                             << "#header X-Token: 3\n";
  const Ended odd = run({"get", url("/told"), "--session", "odd"});
  EXPECT_EQ(odd.code, 0);
  EXPECT_TRUE(contains(odd.errors, "dropping 3 invalid line(s)"));
  EXPECT_TRUE(contains(odd.output, "Cookie=\nX-Token=3\n"));
  setenv("XDG_CONFIG_HOME", "/dev/null", 1);
  EXPECT_TRUE(contains(refused({"--session", "a"}, 11), "/dev/null/skua/sessions"));
}

}  // namespace
}  // namespace skua::test
