// SPDX-License-Identifier: MIT
// Logins of `skua serve`: htpasswd files, and SKUA_AUTH beside them.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cli/hashes.hpp"
#include "cli/process.hpp"
#include "cli/serve_fixture.hpp"
#include "serve/auth/password_hash.hpp"
#include "skua/credentials.hpp"

namespace skua::test {
namespace {

class AuthTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    if (!cli::has_password_hashes()) GTEST_SKIP() << "this build has no libcrypt";
  }
  std::string file() const { return (secrets_ / "users").string(); }
  std::string status_as(const std::string& user, const std::string& password) const {
    const std::string field = BasicCredentials{user, password}.field().value();
    return status(ask("GET / HTTP/1.1\r\nAuthorization: " + field));
  }
  // Starts a server that refuses its file, and returns why.
  std::string refusal(const std::string& path, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"serve", tree_.string(), "--port", "0", "--auth", path};
    words.insert(words.end(), more.begin(), more.end());
    Process process(words);
    std::string text = process.errors();
    EXPECT_EQ(process.wait(), 1);
    return text;
  }

  support::TemporaryDirectory secrets_;
};

TEST_F(AuthTest, RequiresALoginOfTheFile) {
  secrets_.write("users", std::string("ada:") + hashes::bcrypt + "\nbob:" + hashes::sha512 + "\n");
  start({"--auth", file()});
  EXPECT_EQ(status(get("/")), "401");
  EXPECT_EQ(status(get("/none")), "401");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(status_as("ada", "secret"), "200");
    EXPECT_EQ(status_as("bob", "secret"), "200");
    EXPECT_EQ(status_as("ada", "Secret"), "401");
    EXPECT_EQ(status_as("eve", "secret"), "401");
  }
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(AuthTest, TakesTheLoginOfTheEnvironmentToo) {
  secrets_.write("users", std::string("ada:") + hashes::bcrypt);
  const Environment environment("SKUA_AUTH", "eve:plain");
  start({"--auth", file()});
  EXPECT_EQ(status_as("ada", "secret"), "200");
  EXPECT_EQ(status_as("eve", "plain"), "200");
  EXPECT_EQ(status_as("eve", "secret"), "401");
  EXPECT_EQ(status_as("ada", "plain"), "401");
}

TEST_F(AuthTest, RefusesFilesThatItCannotUse) {
  secrets_.write("users", "ada:secret\n");
  EXPECT_EQ(refusal(file()), "skua: --auth: " + file() +
                                 ", line 1: the password of ada is not hashed, or in a way that "
                                 "is too weak\nMake a new line with `htpasswd -nB ada`.\n");
  EXPECT_TRUE(refusal(file() + "2").starts_with("skua: --auth: cannot read " + file() + "2: "));
}

TEST_F(AuthTest, RefusesAFileThatClientsCouldAskFor) {
  tree_.write("users", std::string("ada:") + hashes::bcrypt);
  const std::string inside = (tree_ / "users").string();
  EXPECT_TRUE(refusal(inside).starts_with("skua: --auth: " + inside + " is in the served folder"));
  EXPECT_NE(refusal((tree_ / "plain/../users").string()).find("is in the served folder"),
            std::string::npos);
}

TEST_F(AuthTest, RefusesAFileThatClientsOfAnotherHostCouldAskFor) {
  secrets_.write("users", std::string("ada:") + hashes::bcrypt);
  EXPECT_NE(refusal(file(), {"--vhost", "a.example=" + secrets_.string()})
                .find("is in the served folder"),
            std::string::npos);
}

TEST_F(ServeTest, SaysIfItCannotHashPasswords) {
  if (cli::has_password_hashes()) GTEST_SKIP() << "this build has libcrypt";
  Process process({"serve", tree_.string(), "--auth", "x"});
  EXPECT_TRUE(process.errors().starts_with("skua: --auth: this build of skua has no libcrypt\n"));
  EXPECT_EQ(process.wait(), 2);
}

}  // namespace
}  // namespace skua::test
