// SPDX-License-Identifier: MIT
// `skua serve --upload`: who may upload what, and what is left when the server is killed.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "skua/credentials.hpp"

namespace skua::test {
namespace {

class UploadTest : public ServeTest {
 protected:
  std::string put(const std::string& path, const std::string& content,
                  const std::string& fields = "") const {
    const Connection connection(port_);
    connection.send("PUT " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                    fields + "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" +
                    content);
    return connection.receive();
  }
  std::string content(const std::string& name) const {
    std::ifstream file(tree_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string login(const std::string& user, const std::string& password) {
    return "Authorization: " + BasicCredentials{user, password}.field().value() + "\r\n";
  }
  // Returns what is printed on stderr by a server that does not start.
  std::string failure(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"serve", tree_.string(), "--port", "0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Process process(std::move(arguments));
    std::string errors = process.errors();
    EXPECT_EQ(process.wait(), 1) << errors;
    return errors;
  }
};

TEST_F(UploadTest, FilesAreAcceptedOnlyIfAskedFor) {
  start();
  EXPECT_EQ(status(put("/new.txt", "new")), "405");
  EXPECT_EQ(get("/plain/").find("<form name=\"upload\""), std::string::npos);
  start({"--upload"});
  const std::string made = put("/new.txt", "new");
  EXPECT_EQ(status(made), "201");
  EXPECT_NE(made.find("\r\nLocation: /new.txt\r\n"), made.npos);
  EXPECT_TRUE(get("/new.txt").ends_with("\r\n\r\nnew"));
  EXPECT_EQ(status(put("/new.txt", "newer")), "409");
  EXPECT_EQ(status(put("/.env", "x")), "403");
  EXPECT_NE(get("/plain/").find("<form name=\"upload\""), std::string::npos);
}

TEST_F(UploadTest, OneFolderMayAcceptThem) {
  start({"--upload=plain", "--upload-overwrite", "--upload-limit", "4"});
  EXPECT_EQ(status(put("/plain/new.txt", "new")), "201");
  EXPECT_EQ(status(put("/plain/c.txt", "1234")), "204");
  EXPECT_EQ(content("plain/c.txt"), "1234");
  EXPECT_EQ(status(put("/plain/c.txt", "12345")), "413");
  const std::string refused = put("/new.txt", "new");
  EXPECT_EQ(status(refused), "405");
  EXPECT_NE(refused.find("\r\nAllow: GET, HEAD\r\n"), refused.npos);
  EXPECT_NE(get("/plain/").find("<form name=\"upload\""), std::string::npos);
}

TEST_F(UploadTest, ALoginForUploadsIsForThemOnly) {
  const Environment uploads("SKUA_UPLOAD_AUTH", "ada:pass");
  start({"--upload"});
  EXPECT_EQ(status(get("/")), "200");
  const std::string refused = put("/new.txt", "new");
  EXPECT_EQ(status(refused), "401");
  EXPECT_NE(refused.find("Basic realm=\"skua uploads\""), refused.npos);
  EXPECT_EQ(status(put("/new.txt", "new", login("ada", "other"))), "401");
  EXPECT_EQ(status(put("/new.txt", "new", login("ada", "pass"))), "201");
}

TEST_F(UploadTest, BothLoginsMayDiffer) {
  const Environment reading("SKUA_AUTH", "eve:read");
  start({"--upload"});
  EXPECT_EQ(status(put("/new.txt", "new")), "401");
  EXPECT_EQ(status(put("/new.txt", "new", login("eve", "read"))), "201");
  const Environment uploads("SKUA_UPLOAD_AUTH", "ada:pass");
  start({"--upload"});
  EXPECT_EQ(status(get("/")), "401");
  EXPECT_EQ(status(put("/more.txt", "new", login("eve", "read"))), "401");
  EXPECT_EQ(status(put("/more.txt", "new", login("ada", "pass"))), "201");
  EXPECT_EQ(status(ask("GET / HTTP/1.1\r\nAuthorization: " +
                       BasicCredentials{"eve", "read"}.field().value())),
            "200");
}

TEST_F(UploadTest, OtherMachinesNeedALogin) {
  for (const char* host : {"0.0.0.0", "[::]"}) {
    EXPECT_EQ(failure({"--host", host, "--upload"}),
              "skua: --upload: everyone who reaches this machine could write to the folder\n"
              "Use --auth, set SKUA_UPLOAD_AUTH=USER:PASSWORD (or SKUA_AUTH) in the environment to "
              "require a login, or\nadd --upload-anyone.\n");
  }
  const auto starts = [this](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"serve",  tree_.string(), "--port",  "0",
                                          "--host", "0.0.0.0",      "--upload"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Process(std::move(arguments)).line().starts_with("listening on ");
  };
  EXPECT_TRUE(starts({"--upload-anyone"}));
  const Environment uploads("SKUA_UPLOAD_AUTH", "ada:pass");
  EXPECT_TRUE(starts({}));
}

TEST_F(UploadTest, WithoutALoginNamesOfOthersAreRefused) {
  const auto put_at = [this](const std::string& host) {
    const Connection connection(port_);
    connection.send("PUT /" + host + " HTTP/1.1\r\nConnection: close\r\nHost: " + host +
                    "\r\nContent-Length: 1\r\n\r\nx");
    return status(connection.receive());
  };
  start({"--upload"});
  for (const char* host : {"localhost", "localhost:8080", "127.0.0.1:8080", "[::1]"}) {
    EXPECT_EQ(put_at(host), "201") << host;
  }
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example"}) {
    EXPECT_EQ(put_at(host), "403") << host;
  }
  start({"--upload", "--upload-anyone"});
  EXPECT_EQ(put_at("nas.example"), "201");
}

TEST_F(UploadTest, AnIndexFileDoesNotHideTheListForGood) {
  start({"--upload"});
  EXPECT_TRUE(get("/plain/").find("name=\"upload\"") != std::string::npos);
  EXPECT_EQ(status(put("/plain/index.html", "mine")), "201");
  EXPECT_TRUE(get("/plain/").ends_with("\r\n\r\nmine"));
  const std::string list = get("/plain/?view=list");
  EXPECT_NE(list.find("./index.html"), std::string::npos) << list;
  EXPECT_NE(list.find("name=\"upload\""), std::string::npos);
}

TEST_F(UploadTest, SaysThatTheFolderIsMissing) {
  EXPECT_EQ(failure({"--upload=none"}),
            "skua: --upload: " + tree_.string() + "/none/: it was not found\n");
  Process process({"serve", tree_.string(), "--upload=../outside"});
  EXPECT_TRUE(process.errors().starts_with(
      "skua: --upload: '../outside' is not the name of a folder in DIR\n"));
  EXPECT_EQ(process.wait(), 2);
}

TEST_F(UploadTest, PrintsItsSettings) {
  const Environment uploads("SKUA_UPLOAD_AUTH", "ada:pass");
  Process process({"serve", "--print-config", "--upload=a/b", "--upload-limit", "20G"});
  const std::string text = process.output();
  EXPECT_NE(
      text.find("\nupload = \"a/b\"\nupload-limit = 21474836480\n# upload-overwrite = false\n"),
      text.npos)
      << text;
  EXPECT_NE(text.find("\n# SKUA_UPLOAD_AUTH in the environment requires a login for uploads.\n"),
            text.npos)
      << text;
  EXPECT_EQ(text.find("pass"), text.npos);
}

TEST_F(UploadTest, NothingIsLeftOfAKilledServerAfterTheNextStart) {
  const auto count = [this] {
    return std::distance(std::filesystem::directory_iterator(tree_ / "plain"), {});
  };
  start({"--upload"});
  const Connection connection(port_);
  connection.send(
      "PUT /plain/new HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: "
      "100-continue\r\n\r\n");
  EXPECT_TRUE(connection.receive_some().starts_with("HTTP/1.1 100 "));
  connection.send("part");
  process_->signal(SIGKILL);
  process_->wait();
  EXPECT_EQ(count(), 2);  // also c.txt
  start({"--upload"});
  EXPECT_EQ(count(), 1);
}

}  // namespace
}  // namespace skua::test
