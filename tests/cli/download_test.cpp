// SPDX-License-Identifier: MIT
// Downloads with `skua get`: names, existing files, and what remains if the server dies.
#include <sys/stat.h>

#include "cli/get_fixture.hpp"
#include "get/download.hpp"
#include "support/scripted_server.hpp"

namespace skua::test {
namespace {

using testing::ScriptedServer;
using With = Process::With;
using Talk = std::function<void(testing::Client&)>;

// Answers one request, and appends that request to `asked`.
Talk answer(std::string response, std::string& asked) {
  return [response = std::move(response), &asked](testing::Client& peer) {
    while (asked.find("\r\n\r\n") == asked.npos) {
      const std::string some = peer.some();
      if (some.empty()) return;
      asked += some;
    }
    peer.send(response);
  };
}

class DownloadTest : public GetFixture {
 protected:
  void SetUp() override {
    router_.get("/a/data.bin", [] { return std::string("0123456789"); });
    router_.get("/other.bin", [] { return std::string(300'000, 'x'); });
    router_.get("/named", [] {
      return Response("named").header("Content-Disposition",
                                      "attachment; filename=\"../../report 1.txt\"");
    });
    router_.get("/", [] { return "home"; });
    start_server();
  }
};

TEST_F(DownloadTest, AFileIsNamedByTheUrlOrTheServer) {
  const Ended saved = run({"get", "-d", url("/a/data.bin?x=1#y")});
  EXPECT_EQ(saved.output, "");
  EXPECT_EQ(saved.errors, "saved data.bin (10 B)\n");
  EXPECT_EQ(saved.code, 0);
  EXPECT_EQ(content("data.bin"), "0123456789");
  EXPECT_EQ(run({"get", "-d", "-q", url("/named")}).errors, "");
  EXPECT_EQ(content("report 1.txt"), "named");
  EXPECT_EQ(run({"get", "--download", url("/")}).code, 0);
  EXPECT_EQ(content("index.html"), "home");
  const auto left = std::distance(std::filesystem::directory_iterator(folder_.path()), {});
  EXPECT_EQ(left, 3);
}

TEST_F(DownloadTest, TheHeadIsPrintedWhereThatIsWanted) {
  const Ended saved = run({"get", "-i", "-d", url("/a/data.bin")});
  EXPECT_EQ(saved.code, 0);
  EXPECT_TRUE(saved.output.starts_with("HTTP/1.1 200 OK\n")) << saved.output;
  EXPECT_TRUE(saved.output.ends_with("\n\n")) << saved.output;
  EXPECT_EQ(content("data.bin"), "0123456789");
  const Ended missing = run({"get", "-i", "-o", "none", url("/none")});
  EXPECT_EQ(missing.code, 4);
  EXPECT_TRUE(missing.output.starts_with("HTTP/1.1 404 Not Found\n")) << missing.output;
}

TEST_F(DownloadTest, AFileIsReplacedOnlyByItsName) {
  folder_.write("data.bin", "mine");
  EXPECT_EQ(run({"get", "-d", url("/a/data.bin")}).errors, "saved data.bin-1 (10 B)\n");
  EXPECT_EQ(run({"get", "-d", url("/a/data.bin")}).errors, "saved data.bin-2 (10 B)\n");
  EXPECT_EQ(content("data.bin"), "mine");
  EXPECT_EQ(content("data.bin-1"), "0123456789");
  EXPECT_EQ(run({"get", "-o", "data.bin", url("/a/data.bin")}).code, 0);
  EXPECT_EQ(content("data.bin"), "0123456789");
  EXPECT_EQ(run({"get", "-o", folder_.string(), url("/a/data.bin")}).code, 11);
  EXPECT_EQ(run({"get", "-o", "-", url("/a/data.bin")}).output, "0123456789");
}

TEST_F(DownloadTest, ADeviceStaysWhatItIs) {
  EXPECT_EQ(run({"get", "-o", "/dev/null", url("/a/data.bin")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  folder_.write("real", "old");
  folder_.link("real", "link");
  EXPECT_EQ(run({"get", "-o", "link", url("/a/data.bin")}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(content("real"), "0123456789");
}

TEST_F(DownloadTest, AnErrorIsNoFile) {
  folder_.write("kept", "old");
  const Ended ended = run({"get", "-o", "kept", url("/nothing")});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.errors, "skua: " + url("/nothing") +
                              ": the server answered 404 Not Found; nothing was saved\n");
  EXPECT_EQ(content("kept"), "old");
  EXPECT_FALSE(exists(".kept.part"));
}

TEST_F(DownloadTest, SeveralAreSavedAtOnce) {
  const Ended ended = run({"get", "-d", url("/a/data.bin"), url("/nothing"), url("/other.bin"),
                           url("/a/data.bin"), "--parallel", "2", "X-Name:x"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(content("data.bin"), "0123456789");
  EXPECT_EQ(content("data.bin-1"), "0123456789");
  EXPECT_EQ(content("other.bin"), std::string(300'000, 'x'));
}

TEST_F(DownloadTest, ATerminalSeesProgress) {
  const Ended ended = run({"get", "-d", url("/other.bin")}, With::Errors);
  EXPECT_TRUE(contains(ended.errors, "\x1b[1A\r\x1b[Jsaved other.bin (293.0 KiB"));
  EXPECT_EQ(ended.code, 0);
}

TEST_F(DownloadTest, WhatAServerLeftIsGoneOnWith) {
  std::string first;
  std::string second;
  const std::string head = "ETag: \"v1\"\r\n";
  ScriptedServer server(std::vector<Talk>{
      answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" + head + "\r\n0123", first),
      answer("HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\n"
             "Content-Range: bytes 4-9/10\r\n" +
                 head + "\r\n456789",
             second)});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  const Ended broken = run({"get", "-d", place});
  EXPECT_EQ(broken.code, 10) << broken.errors;
  EXPECT_TRUE(
      contains(broken.errors, "; .f.bin.part has the first 4 B; use --continue to resume\n"));
  EXPECT_EQ(content(".f.bin.part"), "0123");
  EXPECT_FALSE(exists("f.bin"));
  const Ended resumed = run({"get", "-d", "--continue", place});
  EXPECT_EQ(resumed.code, 0) << resumed.errors;
  EXPECT_EQ(content("f.bin"), "0123456789");
  EXPECT_FALSE(exists(".f.bin.part"));
  EXPECT_FALSE(exists(".f.bin.part.origin"));
  EXPECT_EQ(first.find("Range"), first.npos);
  EXPECT_TRUE(contains(first, "Accept-Encoding: identity\r\n"));
  EXPECT_TRUE(contains(second, "Range: bytes=4-\r\n"));
  EXPECT_TRUE(contains(second, "If-Range: \"v1\"\r\n"));
}

TEST_F(DownloadTest, AnotherFileStartsOver) {
  std::string first;
  std::string second;
  ScriptedServer server(std::vector<Talk>{
      answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\n0123", first),
      answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"v2\"\r\n\r\nnew", second)});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  EXPECT_EQ(run({"get", "-o", "mine", place}).code, 10);
  EXPECT_EQ(content(".mine.part"), "0123");
  EXPECT_EQ(run({"get", "-o", "mine", "-c", place}).code, 0);
  EXPECT_EQ(content("mine"), "new");
  EXPECT_TRUE(contains(second, "If-Range: \"v1\"\r\n"));
}

TEST_F(DownloadTest, AWrongPartIsNotAppended) {
  for (const std::string range : {"bytes 3-9/10", "bytes 4-10/11", "bytes 4-9", ""}) {
    std::string asked[3];
    const std::string field = range.empty() ? "" : "Content-Range: " + range + "\r\n";
    ScriptedServer server(std::vector<Talk>{
        answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\n0123", asked[0]),
        answer("HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\nConnection: close\r\n" +
                   field + "\r\nxxxxxx",
               asked[1]),
        answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", asked[2])});
    const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
    EXPECT_EQ(run({"get", "-o", "f", place}).code, 10);
    const Ended ended = run({"get", "-o", "f", "-c", place});
    EXPECT_EQ(ended.code, 0) << ended.errors;
    EXPECT_EQ(content("f"), "0123456789") << range;
    EXPECT_EQ(asked[2].find("Range"), std::string::npos);
  }
}

TEST_F(DownloadTest, APartThatEndsBeforeTheFileDoesIsNotTheFile) {
  std::string first;
  std::string second;
  // The first response does not tell the size.
  ScriptedServer server(std::vector<Talk>{
      answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n4\r\n0123\r\nx",
             first),
      answer("HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\nETag: \"v1\"\r\n"
             "Content-Range: bytes 4-6/10\r\n\r\n456",
             second)});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  EXPECT_EQ(run({"get", "-d", place}).code, 10);
  const Ended ended = run({"get", "-d", "-c", place});
  EXPECT_EQ(ended.code, 10) << ended.errors;
  EXPECT_TRUE(contains(ended.errors, "the server sent 7 bytes of 10"));
  EXPECT_FALSE(exists("f.bin"));
  EXPECT_EQ(content(".f.bin.part"), "0123456");
}

TEST_F(DownloadTest, WithoutAValidatorItStartsOver) {
  std::string first;
  std::string second;
  ScriptedServer server(std::vector<Talk>{
      answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: W/\"v1\"\r\n\r\n0123", first),
      answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew", second)});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  const Ended broken = run({"get", "-o", "f", place});
  EXPECT_EQ(broken.code, 10);
  EXPECT_FALSE(contains(broken.errors, ".f.part"));
  EXPECT_FALSE(exists(".f.part")) << "it could not be resumed";
  EXPECT_EQ(run({"get", "-o", "f", "-c", place}).code, 0);
  EXPECT_EQ(content("f"), "new");
  EXPECT_EQ(second.find("Range"), std::string::npos);
}

TEST_F(DownloadTest, WhatIsWholeAlreadyGetsItsName) {
  std::string first;
  std::string second;
  // The whole content, then a malformed chunk.
  ScriptedServer server(std::vector<Talk>{
      answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n3\r\nabc\r\nx",
             first),
      answer("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n"
             "Content-Range: bytes */3\r\n\r\n",
             second)});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  EXPECT_EQ(run({"get", "-d", place}).code, 10);
  EXPECT_EQ(content(".f.bin.part"), "abc");
  const Ended ended = run({"get", "-d", "-c", place});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_EQ(content("f.bin"), "abc");
}

TEST_F(DownloadTest, ACompleteFileIsNotDownloadedAgain) {
  EXPECT_EQ(run({"get", "-d", "-c", url("/a/data.bin")}).errors, "saved data.bin (10 B)\n");
  const Ended again = run({"get", "-d", "-c", url("/a/data.bin")});
  EXPECT_EQ(again.errors, "data.bin is already complete\n");
  EXPECT_EQ(again.code, 0);
  EXPECT_FALSE(exists("data.bin-1"));
  EXPECT_FALSE(exists(".data.bin.part"));
  EXPECT_EQ(run({"get", "-c", "-d", url("/named")}).code, 0);
  EXPECT_EQ(run({"get", "-c", "-d", url("/named")}).errors, "report 1.txt is already complete\n");
  EXPECT_TRUE(contains(run({"get", "-c", "-o", "data.bin", url("/a/data.bin")}).errors,
                       "data.bin is already complete\n"));
  folder_.write("data.bin", "01234");
  EXPECT_EQ(run({"get", "-d", "-c", url("/a/data.bin")}).errors, "saved data.bin-1 (10 B)\n");
}

TEST_F(DownloadTest, AFileThatTheServerHasChangedSinceIsNotComplete) {
  folder_.write("f.bin", "old");
  std::string asked;
  ScriptedServer server(
      std::vector<Talk>{answer("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nLast-Modified: Fri, 01 Jan "
                               "2100 00:00:00 GMT\r\n\r\nnew",
                               asked)});
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  EXPECT_EQ(run({"get", "-d", "-c", place}).errors, "saved f.bin-1 (3 B)\n");
}

TEST_F(DownloadTest, CtrlCKeepsWhatHasCome) {
  std::string asked;
  ScriptedServer server([&asked](testing::Client& peer) {
    answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\n0123", asked)(peer);
    peer.rest();  // until the client closes
  });
  const std::string place = "http://127.0.0.1:" + std::to_string(server.port()) + "/f.bin";
  const auto process = start({"get", "-d", place}, With::Errors);
  EXPECT_TRUE(contains(process->errors_until("4 B of 10 B"), "4 B of 10 B"));
  process->signal(SIGINT);
  const Ended ended = end(process);
  EXPECT_EQ(ended.code, 130);
  EXPECT_TRUE(
      contains(ended.errors, "skua: interrupted; use --continue to resume .f.bin.part\r\n"));
  EXPECT_EQ(content(".f.bin.part"), "0123");
  EXPECT_TRUE(exists(".f.bin.part.origin"));
}

TEST_F(DownloadTest, AFileThatMayNotGrowIsSaid) {
  const std::string command = "cd " + folder_.string() + " && ulimit -f 100 && " +
                              testing::program_path("skua") + " get -d " + url("/other.bin") +
                              " 2>errors";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 11);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_TRUE(contains(content("errors"), "cannot write .other.bin.part: File too large\n"));
  EXPECT_FALSE(exists("other.bin"));
}

}  // namespace
}  // namespace skua::test
