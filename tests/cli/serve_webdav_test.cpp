// SPDX-License-Identifier: MIT
// `skua serve --webdav`: who may change what, also in the sandbox.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "skua/credentials.hpp"
#include "xml/xml.hpp"

namespace skua::test {
namespace {

class ServeWebDavTest : public ServeTest {
 protected:
  void SetUp() override {
    if (!xml::is_available()) GTEST_SKIP() << "this build has no expat";
    ServeTest::SetUp();
  }
  std::string send(const std::string& line, const std::string& fields = "",
                   const std::string& content = "") const {
    const Connection connection(port_);
    connection.send(line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + fields +
                    "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content);
    return connection.receive();
  }
  std::string code(const std::string& line, const std::string& fields = "",
                   const std::string& content = "") const {
    return status(send(line, fields, content));
  }
  std::string content(const std::string& name) const {
    std::ifstream file(tree_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string login(const std::string& user, const std::string& password) {
    return "Authorization: " + BasicCredentials{user, password}.field().value() + "\r\n";
  }
  // Returns what is printed on stderr by a server that does not start.
  std::string failure(const std::vector<std::string>& options, int exit_code) const {
    std::vector<std::string> arguments = {"serve", tree_.string(), "--port", "0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Process process(std::move(arguments));
    std::string errors = process.errors();
    EXPECT_EQ(process.wait(), exit_code) << errors;
    return errors;
  }
  // Every kind of change that the sandbox must let through, below a folder of the site.
  void change(const std::string& root) const {
    EXPECT_EQ(code("PUT " + root + "new.txt", "", "new"), "201");
    EXPECT_EQ(code("PUT " + root + "new.txt", "", "newer"), "204");
    EXPECT_TRUE(get(root + "new.txt").ends_with("\r\n\r\nnewer"));
    EXPECT_EQ(code("MKCOL " + root + "folder"), "201");
    EXPECT_EQ(code("PROPPATCH " + root + "new.txt", "",
                   "<propertyupdate xmlns='DAV:'><set><prop><x xmlns='urn:x'>1</x></prop></set>"
                   "</propertyupdate>"),
              "207");
    EXPECT_EQ(code("COPY " + root + "new.txt", "Destination: " + root + "folder/copy\r\n"), "201");
    EXPECT_EQ(code("MOVE " + root + "new.txt", "Destination: " + root + "folder/moved\r\n"), "201");
    EXPECT_EQ(code("COPY " + root + "folder", "Destination: " + root + "tree\r\n"), "201");
    EXPECT_EQ(code("MOVE " + root + "tree", "Destination: " + root + "folder/tree\r\n"), "201");
    EXPECT_NE(send("PROPFIND " + root + "folder/tree/", "Depth: 1\r\n").find("tree/moved</D:href>"),
              std::string::npos);
    EXPECT_EQ(code("DELETE " + root + "folder"), "204");
  }
};

TEST_F(ServeWebDavTest, IsThereOnlyIfAskedFor) {
  start();
  EXPECT_EQ(code("PROPFIND /", "Depth: 0\r\n"), "405");
  EXPECT_EQ(code("DELETE /plain/c.txt"), "405");
  EXPECT_EQ(content("plain/c.txt"), "c");
}

TEST_F(ServeWebDavTest, AllChangesWorkInTheSandbox) {
  start({"--webdav"});
  EXPECT_NE(send("OPTIONS /").find("\r\nDAV: 1\r\n"), std::string::npos);
  change("/");
  change("/plain/");
  EXPECT_EQ(code("PUT /.profile", "", "x"), "403");
  EXPECT_EQ(code("DELETE /.env"), "404");
  EXPECT_EQ(content(".env"), "secret");
}

TEST_F(ServeWebDavTest, OneFolderMayBeChanged) {
  start({"--webdav=plain", "--webdav-limit", "4"});
  EXPECT_EQ(code("PUT /plain/c.txt", "", "1234"), "204");
  EXPECT_EQ(code("PUT /plain/c.txt", "", "12345"), "413");
  EXPECT_EQ(code("PROPFIND /plain", "Depth: 0\r\n"), "207");
  for (const char* const line : {"PUT /new.txt", "DELETE /index.html", "PROPFIND /", "MKCOL /x"}) {
    const std::string refused = send(line);
    EXPECT_EQ(status(refused), "405") << line;
    EXPECT_NE(refused.find("\r\nAllow: GET, HEAD\r\n"), refused.npos);
  }
  EXPECT_EQ(send("OPTIONS /").find("\r\nDAV:"), std::string::npos);
  EXPECT_EQ(code("MOVE /plain/c.txt", "Destination: /c.txt\r\n"), "403");
  EXPECT_EQ(code("MOVE /index.html", "Destination: /plain/i.html\r\n"), "405");
  EXPECT_EQ(code("DELETE /plain/"), "403");
}

TEST_F(ServeWebDavTest, ALoginForUploadsIsForChanges) {
  const Environment uploads("SKUA_UPLOAD_AUTH", "ada:pass");
  start({"--webdav"});
  EXPECT_EQ(code("PROPFIND /", "Depth: 0\r\n"), "207");
  for (const char* const line :
       {"PUT /new.txt", "DELETE /plain", "MKCOL /x", "COPY /plain", "MOVE /plain", "PROPPATCH /"}) {
    EXPECT_EQ(code(line), "401") << line;
  }
  EXPECT_EQ(code("DELETE /plain", login("ada", "pass")), "204");
}

TEST_F(ServeWebDavTest, OtherMachinesNeedALogin) {
  const std::string errors = failure({"--webdav", "--host", "0.0.0.0"}, 1);
  EXPECT_NE(errors.find("--webdav: everyone who reaches this machine could change"), errors.npos);
  EXPECT_NE(failure({"--webdav", "--upload"}, 2).find("--upload"), std::string::npos);
  EXPECT_NE(failure({"--webdav=none"}, 1).find("none"), std::string::npos);
  start({"--webdav"});
  const Connection connection(port_);
  connection.send("DELETE /plain HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status(connection.receive()), "403");
  EXPECT_EQ(content("plain/c.txt"), "c");
}

}  // namespace
}  // namespace skua::test
