// SPDX-License-Identifier: MIT
// `skua get --offline`: the request that would be sent.
#include <string>
#include <string_view>
#include <vector>

#include "cli/blunt_server.hpp"
#include "cli/get_fixture.hpp"

namespace skua::test {
namespace {

class GetOffline : public GetFixture {
 protected:
  Ended offline(std::vector<std::string> words, Process::With with = Process::With::Output) {
    words.emplace_back("--offline");
    const Ended ended = run(std::move(words), with);
    EXPECT_EQ(ended.code, 0) << ended.errors;
    EXPECT_EQ(ended.errors, "");
    return ended;
  }
};

TEST_F(GetOffline, TheBytesAreThoseThatAreSent) {
  std::string sent;
  BluntServer server([&sent](std::string_view received) {
    sent += received;
    return BluntServer::Answer{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true};
  });
  const std::string at = "127.0.0.1:" + std::to_string(server.port());
  const std::vector<std::string> cases[] = {
      {"get", at + "/a?b=1", "q==x y", "X-A:1", "User-Agent:"},
      {"post", at, "name=Ada", "born:=1815", "-a", "user:password"},
      {"post", at, "-f", "a=b c", "--bearer", "token"},
      {"put", at, "--data", "text"},
      {"head", at},
      {"delete", at},
      {"request", "BREW", at, "--data", ""},
  };
  for (const std::vector<std::string>& words : cases) {
    sent.clear();
    const std::string shown = offline(words).output;
    EXPECT_EQ(sent, "") << "nothing may be sent";
    run(words);
    EXPECT_EQ(shown, sent);
  }
}

TEST_F(GetOffline, NoServerIsNeeded) {
  const Ended ended = offline({"get", "https://no-such-host.invalid/a", "--proxy", "no.invalid:1"});
  EXPECT_TRUE(ended.output.starts_with("GET /a HTTP/1.1\r\nHost: no-such-host.invalid\r\n"));
  EXPECT_TRUE(offline({"get", "http://a.test/b", "--proxy", "no.invalid:1"})
                  .output.starts_with("GET http://a.test/b HTTP/1.1\r\n"));
}

TEST_F(GetOffline, FilesAndFormsAreShown) {
  folder_.write("file", "content");
  const Ended form = offline({"post", "a.test", "title=Sea", "photo@file"});
  EXPECT_TRUE(contains(form.output, "\r\nContent-Type: multipart/form-data; boundary="));
  EXPECT_TRUE(contains(form.output, "\r\n\r\nSea\r\n"));
  EXPECT_TRUE(contains(form.output, "filename=\"file\"\r\n"));
  EXPECT_TRUE(contains(form.output, "\r\n\r\ncontent\r\n"));
  EXPECT_TRUE(offline({"put", "a.test", "--data", "@file"}).output.ends_with("\r\n\r\ncontent"));
  const auto piped = start({"put", "a.test", "--data", "-", "--offline"}, Process::With::Pipes);
  piped->write("from a pipe");
  piped->end_input();
  EXPECT_TRUE(end(piped).output.ends_with("\r\n\r\nfrom a pipe"));
  EXPECT_EQ(run({"post", "a.test", "a@missing", "--offline"}).code, 11);
}

TEST_F(GetOffline, NothingIsWritten) {
  folder_.write("config/skua/sessions/http-a.test-80/s.txt",
                "#header X-Token: 1\na.test\tFALSE\t/\tFALSE\t0\tsid\t7\n");
  const Ended ended = offline({"get", "a.test", "--session", "s", "-o", "out", "X-New:2"});
  EXPECT_TRUE(contains(ended.output, "\r\nCookie: sid=7\r\n"));
  EXPECT_TRUE(contains(ended.output, "\r\nX-New: 2\r\nX-Token: 1\r\n"));
  EXPECT_TRUE(contains(ended.output, "\r\nAccept-Encoding: identity\r\n"));
  EXPECT_FALSE(exists("out"));
  EXPECT_EQ(content("config/skua/sessions/http-a.test-80/s.txt").find("X-New"), std::string::npos);
}

}  // namespace
}  // namespace skua::test
