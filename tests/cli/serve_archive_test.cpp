// SPDX-License-Identifier: MIT
// `skua serve --archive`, in its sandbox. tests/interop/archives_test.py unpacks what it makes.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "coding/coding.hpp"

namespace skua::test {
namespace {

constexpr std::size_t large_bytes = std::size_t{64} << 20U;  // more than sockets hold

class ArchiveTest : public ServeTest {
 protected:
  void write_large() const {
    tree_.write("dir/large.bin", "");
    std::filesystem::resize_file(tree_ / "dir/large.bin", large_bytes);
  }
  // Begins a download, and reads its head.
  static std::string begin(const Connection& connection) {
    connection.send("GET /dir/?archive=tar HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return connection.receive_some();
  }
};

TEST_F(ArchiveTest, FoldersAreDownloadedOnlyIfAskedFor) {
  start();
  EXPECT_EQ(get("/plain/?archive=tar").find("attachment"), std::string::npos);
  EXPECT_EQ(get("/plain/").find("?archive="), std::string::npos);
  start({"--archive", "--cache", "*.html=60"});
  for (const char* format : {"tar", "zip"}) {
    const std::string response = get("/plain/?archive=" + std::string(format));
    EXPECT_EQ(status(response), "200");
    EXPECT_NE(response.find("\r\nCache-Control: no-store\r\n"), response.npos);
    EXPECT_NE(response.find("plain/c.txt"), response.npos);
    EXPECT_TRUE(response.ends_with("\r\n0\r\n\r\n"));
    const std::string head = ask("HEAD /plain/?archive=" + std::string(format) + " HTTP/1.1");
    EXPECT_NE(head.find("filename=\"plain." + std::string(format) + "\""), head.npos);
    EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  }
  const std::string all = get("/?archive=tar");
  EXPECT_NE(all.find("files/link.html"), all.npos);
  EXPECT_EQ(all.find(".env"), all.npos);
  EXPECT_NE(get("/plain/").find("<a rel=\"nofollow\" href=\"?archive=zip\">"), std::string::npos);
}

TEST_F(ArchiveTest, WorksWithOtherOptions) {
  const Environment environment("SKUA_AUTH", "ada:pass");
  if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "this build has no zlib";
  start({"--archive", "--no-listing", "--index", "", "--compress"});
  EXPECT_EQ(status(get("/plain/?archive=tar")), "401");
  const std::string login = "\r\nAuthorization: Basic YWRhOnBhc3M=";
  EXPECT_EQ(status(ask("GET /plain/ HTTP/1.1" + login)), "404");
  const std::string tar = ask("GET /plain/?archive=tar HTTP/1.1\r\nAccept-Encoding: gzip" + login);
  EXPECT_EQ(tar.find("Content-Encoding"), tar.npos);
  EXPECT_NE(tar.find("plain/c.txt"), tar.npos);
}

TEST_F(ArchiveTest, NoSpellingLeavesTheFolder) {
  tree_.write("site/a.txt", "a");
  tree_.write("secret.txt", "secret");
  process_ = std::make_unique<Process>(std::vector<std::string>{
      "serve", (tree_ / "site").string(), "--port", "0", "--archive", "--quiet"});
  const std::string first = process_->line();
  port_ = static_cast<std::uint16_t>(std::stoul("0" + first.substr(first.rfind(':') + 1)));
  for (const char* path : {"/../",
                           "/..%2f",
                           "/%2e%2e/",
                           "/%2E%2E%2F",
                           "/.%2e/",
                           "/..%5c/",
                           "/..%255c/",
                           "/%252e%252e/",
                           "//../",
                           "/site/../../",
                           "/;/../",
                           "/..;/",
                           "/%00/../",
                           "/%c0%ae%c0%ae/",
                           "/%uff0e%uff0e/",
                           "/..%00/",
                           "/.../",
                           "/....//",
                           "/a.txt/../../",
                           "/%2f/",
                           "/%5c..%5c/",
                           "/..%ef%bc%8f/",
                           "/\\..\\",
                           "/etc/",
                           "/%2fetc/",
                           "/proc/self/root/",
                           "/~/",
                           "/./.././",
                           "/?/../"}) {
    for (const char* query : {"?archive=tar", "?archive=%74ar", "?x=1&archive=zip",
                              "?archive=../tar", "?archive=tar%2f..", "?archive=/etc/passwd"}) {
      const std::string response = get(std::string(path) + query);
      EXPECT_EQ(response.find("secret"), response.npos) << path << query;
      EXPECT_EQ(response.find("passwd\n"), response.npos) << path << query;
      EXPECT_EQ(response.find("root:"), response.npos) << path << query;
    }
  }
}

TEST_F(ArchiveTest, AClientThatLeavesMakesRoom) {
  write_large();
  start({"--archive", "--quiet"});
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Connection>(port_));
    EXPECT_EQ(status(begin(*clients.back())), "200");
  }
  const std::string full = get("/plain/?archive=zip");
  EXPECT_EQ(status(full), "503");
  EXPECT_NE(full.find("\r\nRetry-After: 30\r\n"), full.npos);
  EXPECT_EQ(status(get("/plain/")), "200");
  clients.clear();
  // The server learns of it as soon as it writes.
  std::string response = get("/plain/?archive=zip");
  for (int i = 0; i < 1000 && status(response) == "503"; ++i) response = get("/plain/?archive=zip");
  EXPECT_EQ(status(response), "200");
}

TEST_F(ArchiveTest, TheClientCanTellThatAFileWasCutOff) {
  write_large();
  start({"--archive", "--quiet"});
  const Connection client(port_);
  std::string response = begin(client);
  EXPECT_EQ(status(response), "200");
  while (response.size() < 1'000'000) {  // the file is open
    const std::string more = client.receive_some();
    ASSERT_FALSE(more.empty());
    response += more;
  }
  std::filesystem::resize_file(tree_ / "dir/large.bin", 1);
  response += client.receive();
  EXPECT_LT(response.size(), large_bytes);
  EXPECT_FALSE(response.ends_with("\r\n0\r\n\r\n"));
  EXPECT_EQ(status(get("/plain/?archive=tar")), "200");
}

}  // namespace
}  // namespace skua::test
