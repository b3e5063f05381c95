// SPDX-License-Identifier: MIT
// Resumed downloads: from servers that send a different part, and two at a time.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <string>
#include <vector>

#include "client_fixture.hpp"
#include "support/scripted_server.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

namespace fs = std::filesystem;
using Peer = testing::Client;
using Talk = std::function<void(Peer&)>;
using namespace std::string_literals;

Talk say(std::string response, std::string& asked) {
  return [response = std::move(response), &asked](Peer& peer) {
    asked = peer.some();
    peer.send(response);
  };
}

class ClientResume : public ::testing::TestWithParam<BackendChoice> {
 protected:
  /// The result of a download that finds "0123" of "v1".
  Result<Downloaded, Problem> resume(std::vector<Talk> talks) {
    folder_.write(".file.part", "0123");
    folder_.write(".file.part.origin", "skua download 1\nhttp://a.example/\n\"v1\"\n\n");
    return download(std::move(talks));
  }
  Result<Downloaded, Problem> download(std::vector<Talk> talks) {
    const testing::ScriptedServer server(std::move(talks));
    Result<Downloaded, Problem> got = Problem();
    testing::run_on(GetParam(), ask(server.port(), got));
    return got;
  }
  [[nodiscard]] std::string content(std::string_view name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  Task<> ask(std::uint16_t port, Result<Downloaded, Problem>& got) {
    Client client;
    DownloadOptions options;
    options.resume = true;
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
    ClientRequest request = client.get(url);
    if (produce_) request = std::move(client.post(url).stream("text/plain", produce_, 4));
    got = co_await std::move(request).download((folder_ / "file").string(), options);
  }

  /// Starts the second download while the first is in progress.
  Task<> compete(std::uint16_t slow, std::uint16_t fast, std::promise<void>& go_on) {
    Client client;
    Event has_begun;
    Scope scope;
    scope.spawn(take_slowly(client, slow, has_begun));
    co_await has_begun.wait();
    const std::string url = "http://127.0.0.1:" + std::to_string(fast) + "/";
    auto second = co_await client.get(url).download((folder_ / "file").string(), DownloadOptions());
    go_on.set_value();
    EXPECT_FALSE(second);
    if (!second) {
      EXPECT_EQ(second.error().error.system_code(), EBUSY) << second.error().text;
    }
    co_await scope.join();
  }
  Task<> take_slowly(Client& client, std::uint16_t port, Event& has_begun) {
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
    const auto tell = [&has_begun](Progress) { has_begun.set(); };
    auto first = co_await client.get(url).on_progress(tell).download((folder_ / "file").string(),
                                                                     DownloadOptions());
    EXPECT_TRUE(first) << first.error().text;
  }

  const support::TemporaryDirectory folder_;
  std::function<Task<>(BodyWriter&)> produce_;
};

TEST_P(ClientResume, APartThatEndsBeforeTheFileDoesIsNotTheFile) {
  std::string asked;
  const auto got =
      resume({say("HTTP/1.1 206 Partial Content\r\nETag: \"v1\"\r\nContent-Length: 3\r\n"
                  "Content-Range: bytes 4-6/10\r\n\r\n456",
                  asked)});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::TruncatedBody) << got.error().text;
  EXPECT_NE(asked.find("Range: bytes=4-\r\nIf-Range: \"v1\"\r\n"), asked.npos) << asked;
  EXPECT_FALSE(fs::exists(folder_ / "file"));
  EXPECT_EQ(content(".file.part"), "0123456");
}

TEST_P(ClientResume, APartOfAnotherFileIsNotPutBehindIt) {
  for (const std::string fields :
       {"ETag: \"v2\"\r\nContent-Range: bytes 4-9/10\r\n", "Content-Range: bytes 3-8/10\r\n", ""}) {
    std::string first;
    std::string second;
    const auto got =
        resume({say("HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\nConnection: close\r\n" +
                        fields + "\r\nxxxxxx",
                    first),
                say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", second)});
    EXPECT_TRUE(got) << got.error().text;
    EXPECT_EQ(content("file"), "0123456789") << fields;
    EXPECT_EQ(second.find("Range"), second.npos) << second;
  }
}

// The content could not be sent again if the partial file turned out to be useless.
TEST_P(ClientResume, ContentThatIsMadeOnlyOnceIsNotAskedForARest) {
  unsigned made = 0;
  produce_ = [&made](BodyWriter& out) -> Task<> {
    ++made;
    co_await out.write("once");
  };
  std::string asked;
  const auto got = resume({[&asked](Peer& peer) {
    while (!asked.ends_with("\r\n\r\nonce")) asked += peer.some();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
  }});
  EXPECT_TRUE(got) << got.error().text;
  EXPECT_EQ(asked.find("Range"), asked.npos) << asked;
  EXPECT_EQ(content("file"), "0123456789");
  EXPECT_EQ(made, 1U);
}

TEST_P(ClientResume, OneFileIsWrittenByOneAtATime) {
  std::promise<void> go_on;
  const testing::ScriptedServer slow([&go_on](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123");
    go_on.get_future().wait();
    peer.send("456789");
  });
  const testing::ScriptedServer fast([](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
  });
  testing::run_on(GetParam(), compete(slow.port(), fast.port(), go_on));
  EXPECT_EQ(content("file"), "0123456789");
  EXPECT_FALSE(fs::exists(folder_ / ".file.part"));
}

constexpr std::string_view old_fields =
    "Last-Modified: Tue, 03 Nov 2026 08:00:00 GMT\r\nDate: Sun, 22 Nov 2026 08:00:00 GMT\r\n";

TEST_P(ClientResume, AFileThatIsWholeIsNotDownloadedAgain) {
  folder_.write("file", "");  // gets replaced
  std::string first;
  std::string second;
  auto got = download(
      {say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" + std::string(old_fields) + "\r\n0123456789",
           first)});
  EXPECT_TRUE(got) << got.error().text;
  got =
      download({say("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */10\r\n"
                    "Content-Length: 0\r\n\r\n",
                    second)});
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->size_bytes, 10U);
  EXPECT_EQ(got->resumed_bytes, 10U);
  EXPECT_EQ(content("file"), "0123456789");
  EXPECT_NE(second.find("Range: bytes=10-\r\nIf-Range: Tue, 03 Nov 2026 08:00:00 GMT\r\n"),
            second.npos)
      << second;
  EXPECT_FALSE(fs::exists(folder_ / ".file.part"));
}

TEST_P(ClientResume, AWholeFileThatIsAnotherOneByNowIsDownloadedAgain) {
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnew!";
  for (const std::string& first_answer :
       {whole,
        "HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\nConnection: close\r\n"
        "Content-Range: bytes 10-11/12\r\n\r\nxx"s,
        "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n"
        "Content-Range: bytes */12\r\n\r\n"s}) {
    folder_.write("file", "0123456789");
    std::string first;
    std::string second;
    std::vector<Talk> talks = {say(first_answer, first)};
    if (first_answer != whole) talks.push_back(say(whole, second));
    const auto got = download(std::move(talks));
    EXPECT_TRUE(got) << got.error().text;
    EXPECT_EQ(content("file"), "new!") << first_answer;
    EXPECT_EQ(second.find("Range"), second.npos) << second;
  }
}

TEST_P(ClientResume, APartStaysOnlyWhereItCanBeGoneOnWith) {
  std::string asked;
  for (const std::string& fields : {""s, "ETag: W/\"v\"\r\n"s, "ETag: \"v\"\r\n"s}) {
    const auto got =
        download({say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n" + fields + "\r\n0123", asked)});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Errc::TruncatedBody) << got.error().text;
    const bool is_known_again = fields == "ETag: \"v\"\r\n";
    EXPECT_EQ(fs::exists(folder_ / ".file.part"), is_known_again) << fields;
    EXPECT_EQ(fs::exists(folder_ / ".file.part.origin"), is_known_again) << fields;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClientResume, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
