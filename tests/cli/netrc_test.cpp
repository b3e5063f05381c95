// SPDX-License-Identifier: MIT
// `.netrc` files: what is read from them, and whom their passwords are sent to.
#include "get/netrc.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "cli/get_fixture.hpp"

namespace skua::test {
namespace {

using cli::Netrc;

std::string login(std::string_view text, std::string_view host, std::string_view user = {}) {
  const auto read = Netrc::parse(text);
  if (!read) return read.error().text;
  const Netrc::Login* const found = read->find(host, user);
  return found == nullptr ? "none" : found->user + "/" + found->password;
}

TEST(Netrc, HasALoginForEachMachine) {
  const std::string_view text =
      "machine a.test login ada password one\n"
      "machine b.test\n\tlogin bob\r\n\taccount x\n\tpassword two machine c.test login c\n"
      "machine a.test login eve password three\n";
  EXPECT_EQ(login(text, "a.test"), "ada/one");
  EXPECT_EQ(login(text, "A.Test"), "ada/one");
  EXPECT_EQ(login(text, "a.test", "eve"), "eve/three");
  EXPECT_EQ(login(text, "a.test", "nobody"), "none");
  EXPECT_EQ(login(text, "b.test"), "bob/two");
  EXPECT_EQ(login(text, "c.test"), "c/");
  EXPECT_EQ(login(text, "x.a.test"), "none");
  EXPECT_EQ(login(text, ""), "none");
}

TEST(Netrc, TheDefaultIsForAllOthers) {
  const std::string_view text = "default login any password d machine a.test login ada password p";
  EXPECT_EQ(login(text, "a.test"), "ada/p");
  EXPECT_EQ(login(text, "b.test"), "any/d");
  EXPECT_EQ(login(text, "b.test", "ada"), "none");
}

TEST(Netrc, WordsMayBeQuoted) {
  EXPECT_EQ(login(R"(machine a login "a b" password "q\"u\\o\te\n#")", "a"), "a b/q\"u\\o\te\n#");
  EXPECT_EQ(login(R"(machine a login "" password "")", "a"), "/");
  EXPECT_EQ(login("machine a login x password #p\"q", "a"), "x/#p\"q");
}

TEST(Netrc, CommentsAndMacrosAreSkipped) {
  EXPECT_EQ(login("# machine a login no\nmachine a # here\nlogin x password y", "a"), "x/y");
  EXPECT_EQ(login("macdef init\nmachine a login no\n\t\nmachine a login x password y", "a"), "x/y");
  EXPECT_EQ(login("machine a login x\nmacdef m\nput secret\n\npassword y\n", "a"), "x/y");
  EXPECT_EQ(login("machine a login x password y macdef last\nput", "a"), "x/y");
  EXPECT_EQ(login("\xef\xbb\xbfmachine a login x", "a"), "x/");
  EXPECT_EQ(login("", "a"), "none");
  EXPECT_EQ(login("#", "a"), "none");
  EXPECT_EQ(login("machine a password only", "a"), "none");
}

TEST(Netrc, MistakesAreReportedWithoutAnyWord) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"machine a\nlogin x password my secret", "line 2: a word is not machine, "},
      {"machine a login x password \"secret\nmachine b", "line 1: quotes are not closed"},
      {"\n\"secret", "line 2: quotes are not closed"},
      {"login secret", "line 1: a login comes before the first machine"},
      {"machine a\nlogin x password", "line 2: a value is missing at the end"},
      {"secret", "line 1: a word is not machine, "}};
  for (const auto& [text, problem] : cases) {
    const std::string told = login(text, "a");
    EXPECT_TRUE(told.starts_with(problem)) << told;
    EXPECT_EQ(told.find("secret"), told.npos) << told;
  }
}

TEST(Netrc, AnyBytesAreRead) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (const std::string& text : {all, "machine " + all, "machine a login \"" + all + "\"",
                                  std::string(100'000, '"'), std::string(100'000, '\\')}) {
    static_cast<void>(Netrc::parse(text));
  }
}

class NetrcFile : public GetFixture {
 protected:
  void SetUp() override {
    unsetenv("NETRC");
    setenv("HOME", folder_.string().c_str(), 1);
    router_.get("/who", [](const Request& request) {
      return std::string(request.header("Authorization").value_or("nobody")) + "\n";
    });
    start_server();
    other_ = std::make_unique<testing::TestServer>(router_, BackendChoice::Auto, ServerOptions(),
                                                   testing::Transport::Tcp);
    const std::string elsewhere = "http://localhost:" + std::to_string(other_->port()) + "/who";
    moved_.get("/moved", [elsewhere] { return Response::redirect(elsewhere, Status::Found); });
    moving_ = std::make_unique<testing::TestServer>(moved_, BackendChoice::Auto, ServerOptions(),
                                                    testing::Transport::Tcp);
  }
  void write(const std::string& name, const std::string& text) {
    folder_.write(name, text);
    std::filesystem::permissions(
        folder_ / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }

  Router moved_;
  std::unique_ptr<testing::TestServer> other_;
  std::unique_ptr<testing::TestServer> moving_;
};

constexpr const char* ada = "Basic YWRhOnB3\n";  // ada:pw

TEST_F(NetrcFile, IsReadOnlyIfWanted) {
  write(".netrc", "machine 127.0.0.1 login ada password pw");
  EXPECT_EQ(run({"get", url("/who")}).output, "nobody\n");
  const Ended ended = run({"get", url("/who"), "--netrc"});
  EXPECT_EQ(ended.output, ada);
  EXPECT_EQ(ended.errors, "");
}

TEST_F(NetrcFile, MayBeElsewhere) {
  write("logins", "machine 127.0.0.1 login ada password pw");
  EXPECT_EQ(run({"get", url("/who"), "--netrc-file", "logins"}).output, ada);
  setenv("NETRC", (folder_ / "logins").string().c_str(), 1);
  EXPECT_EQ(run({"get", url("/who"), "--netrc"}).output, ada);
  unsetenv("NETRC");
  EXPECT_EQ(run({"get", url("/who"), "--netrc"}).output, "nobody\n");  // there is no ~/.netrc
  const Ended missing = run({"get", url("/who"), "--netrc-file", "nosuch"});
  EXPECT_EQ(missing.errors, "skua: cannot read nosuch: it was not found\n");
  EXPECT_EQ(missing.code, 11);
}

TEST_F(NetrcFile, WhatIsSaidExplicitlyWins) {
  write(".netrc", "machine 127.0.0.1 login ada password pw machine 127.0.0.1 login bob password b");
  EXPECT_EQ(run({"get", url("/who"), "--netrc", "-a", "u:p"}).output, "Basic dTpw\n");
  EXPECT_EQ(run({"get", url("/who"), "--netrc", "--bearer", "tok"}).output, "Bearer tok\n");
  EXPECT_EQ(run({"get", url("/who"), "--netrc", "Authorization:x"}).output, "x\n");
  EXPECT_EQ(run({"get", url("/who"), "--netrc", "Authorization:"}).output, "nobody\n");
  const std::string place = url("/who").substr(7);
  EXPECT_EQ(run({"get", "http://bob@" + place, "--netrc"}).output, "Basic Ym9iOmI=\n");
}

TEST_F(NetrcFile, NothingIsSentToOtherHosts) {
  write(".netrc", "machine 127.0.0.1 login ada password pw");
  const std::string moved = "http://127.0.0.1:" + std::to_string(moving_->port()) + "/moved";
  EXPECT_EQ(run({"get", moved, "--netrc"}).output, "nobody\n");
  EXPECT_EQ(run({"get", moved, "--netrc", "--digest"}).output, "nobody\n");
  const std::string other = "http://localhost:" + std::to_string(other_->port()) + "/who";
  EXPECT_EQ(run({"get", url("/who"), other, "--netrc"}).output, std::string(ada) + "nobody\n");
}

TEST_F(NetrcFile, AFileThatOthersCanReadIsWarnedOf) {
  write(".netrc", "machine 127.0.0.1 login ada password pw");
  std::filesystem::permissions(folder_ / ".netrc", std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  const Ended ended = run({"get", url("/who"), "--netrc"});
  EXPECT_EQ(ended.output, ada);
  EXPECT_TRUE(contains(ended.errors, "WARNING: other users can read the passwords in "));
  write(".netrc", "machine 127.0.0.1 login ada");
  std::filesystem::permissions(folder_ / ".netrc", std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(run({"get", url("/who"), "--netrc"}).errors, "");
}

TEST_F(NetrcFile, MistakesNameTheFileAndTheLine) {
  write("logins", "machine a\nsecret");
  const Ended ended = run({"get", url("/who"), "--netrc-file", "logins"});
  EXPECT_TRUE(ended.errors.starts_with("skua: logins, line 2: a word is not machine"))
      << ended.errors;
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.output, "");
}

}  // namespace
}  // namespace skua::test
