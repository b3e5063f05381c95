// SPDX-License-Identifier: MIT
// Hostile and broken servers: the client reports each problem in time and in bounded memory. Simple
// cases are rows of the table; the rest have tests of their own.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "client_fixture.hpp"
#include "coding/coding.hpp"
#include "support/scripted_server.hpp"

namespace skua {
namespace {

using Peer = testing::Client;

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) all.append(text);
  return all;
}

std::string bomb() {
  std::string packed;
  auto encoder = coding::Encoder::create(coding::Coding::Gzip, 9);
  if (!encoder) return packed;
  const std::string zeros(1 << 20, '\0');
  for (int i = 0; i < 64; ++i) static_cast<void>(encoder->push(zeros, packed));
  static_cast<void>(encoder->finish({}, packed));
  return packed;
}

/// A server that sends `says` on the first request, and closes.
struct Row {
  std::string name{};
  std::string says{};
  Errc code = Errc::None;
  bool stays = false;  ///< keeps the connection open, but sends nothing more
};

const std::string ok = "HTTP/1.1 200 OK\r\n";

std::vector<Row> bad_heads() {
  return {
      {"sends nothing and closes", "", Errc::Closed},
      {"never answers", "", Errc::TimedOut, true},
      {"speaks another protocol", "SSH-2.0-OpenSSH_9.6\r\n", Errc::MalformedStartLine},
      {"speaks HTTP/0.9", "<html>hello</html>\r\n\r\n", Errc::MalformedStartLine},
      {"sends an invalid version", "HTTP/1.x 200 OK\r\n\r\n", Errc::MalformedStartLine},
      {"sends an unsupported version", "HTTP/3.0 200 OK\r\n\r\n", Errc::UnsupportedVersion},
      {"sends a two-digit status", "HTTP/1.1 99 No\r\n\r\n", Errc::MalformedStartLine},
      {"sends a four-digit status", "HTTP/1.1 2000 OK\r\n\r\n", Errc::MalformedStartLine},
      {"closes in the status line", "HTTP/1.1 20", Errc::Closed},
      {"closes in the head", ok + "Content-Le", Errc::Closed},
      {"stops in the head", ok + "Content-Le", Errc::TimedOut, true},
      {"has an endless status line", "HTTP/1.1 200 " + std::string(1 << 20, 'x'),
       Errc::HeadTooLong},
      {"has an endless field", ok + "X: " + std::string(1 << 20, 'x'), Errc::HeadTooLong},
      {"has endless fields", ok + repeated("A: b\r\n", 100000), Errc::TooManyFields},
      {"has an endless head", ok + repeated("A: " + std::string(8000, 'x') + "\r\n", 100),
       Errc::HeadTooLong},
      {"has a field without a name", ok + ": x\r\n\r\n", Errc::MalformedField},
      {"has a space before a colon", ok + "Content-Length : 5\r\n\r\nhello", Errc::MalformedField},
      {"folds a field", ok + "A: b\r\n c\r\n\r\n", Errc::MalformedField},
      {"has NUL in a field", ok + std::string("A: b\0c\r\n\r\n", 10), Errc::MalformedField},
      {"has two lengths", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
       Errc::InvalidContentLength},
      {"has a negative length", ok + "Content-Length: -1\r\n\r\n", Errc::InvalidContentLength},
      {"has an excessive length", ok + "Content-Length: 99999999999999999999999\r\n\r\n",
       Errc::InvalidContentLength},
      {"has a length and chunks",
       ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       Errc::AmbiguousFraming},
  };
}

std::vector<Row> bad_content() {
  const std::string packed = bomb();
  std::vector<Row> all{
      {"closes in the content", ok + "Content-Length: 10\r\n\r\nhello", Errc::TruncatedBody},
      {"stops in the content", ok + "Content-Length: 10\r\n\r\nhello", Errc::TimedOut, true},
      {"closes in a chunk", ok + "Transfer-Encoding: chunked\r\n\r\nA\r\nhello",
       Errc::TruncatedBody},
      {"closes before the last chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
       Errc::TruncatedBody},
      {"sends an invalid chunk size", ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
       Errc::MalformedChunk},
      {"has an excessive chunk size",
       ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", Errc::MalformedChunk},
      {"has an endless chunk extension",
       ok + "Transfer-Encoding: chunked\r\n\r\n5;" + std::string(1 << 20, 'x'),
       Errc::ChunkExtensionTooLong},
      {"has endless trailers",
       ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + repeated("A: b\r\n", 100000),
       Errc::TrailerTooLong},
      {"has endless interim responses", repeated("HTTP/1.1 103 Early Hints\r\n\r\n", 1000),
       Errc::TooManyInterimResponses},
      {"switches protocols unasked",
       "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n"
       "Connection: upgrade\r\n\r\n",
       Errc::UnexpectedUpgrade},
      {"uses an unknown coding", ok + "Content-Encoding: x-zip\r\nContent-Length: 5\r\n\r\nhello",
       Errc::Unsupported},
      {"redirects to no host",
       "HTTP/1.1 302 Found\r\nLocation: http://\r\n"
       "Content-Length: 0\r\n\r\n",
       Errc::RedirectRefused},
      {"redirects with a password",
       "HTTP/1.1 302 Found\r\nLocation: http://u:p@127.0.0.1/\r\n"
       "Content-Length: 0\r\n\r\n",
       Errc::RedirectRefused},
  };
  if (!packed.empty()) {
    all.push_back(
        {"sends a gzip bomb", ok + "Content-Encoding: gzip\r\n\r\n" + packed, Errc::BodyTooLong});
    all.push_back({"sends invalid gzip", ok + "Content-Encoding: gzip\r\n\r\nhello, world",
                   Errc::MalformedCoding});
    all.push_back({"sends half of the encoded content",
                   ok + "Content-Encoding: gzip\r\n\r\n" + packed.substr(0, 200),
                   Errc::MalformedCoding});
  }
  return all;
}

class HostileServers : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    be_patient_for(std::chrono::seconds(20));
    options_.limits.decoded_ratio = 50;
  }
  void be_patient_for(Duration time) {
    options_.timeouts.head = time;
    options_.timeouts.idle = time;
  }
  /// The result of a request to a server that runs `talk` on its only connection.
  Result<std::string, Problem> fetch(std::function<void(Peer&)> talk) {
    testing::ScriptedServer server(std::move(talk));
    const std::string to = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
    Result<std::string, Problem> got = Problem();
    const auto begun = std::chrono::steady_clock::now();
    testing::run_on(GetParam(), ask(to, got));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
    return got;
  }
  ClientOptions options_;

 private:
  Task<> ask(std::string to, Result<std::string, Problem>& got) {
    Client client(options_);
    got = co_await client.get(to).text();
  }
};

/// Sends `text` after the first request, or as much as the client takes before it closes.
void say(Peer& peer, const std::string& text, bool stays) {
  static_cast<void>(peer.some());
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t sent = peer.send_some(rest.substr(0, 65536));
    if (sent == 0 && peer.is_readable() && peer.is_closed()) return;
    rest.remove_prefix(sent);
  }
  if (stays) static_cast<void>(peer.rest());
}

TEST_P(HostileServers, EachIsToldWhatIsWrong) {
  std::vector<Row> rows = bad_heads();
  for (Row& row : bad_content()) rows.push_back(std::move(row));
  for (const Row& row : rows) {
    const bool times_out = row.code == Errc::TimedOut;
    be_patient_for(std::chrono::milliseconds(times_out ? 300 : 20'000));
    const Result<std::string, Problem> got =
        fetch([&](Peer& peer) { say(peer, row.says, row.stays); });
    EXPECT_FALSE(got) << row.name;
    if (got) continue;
    EXPECT_EQ(got.error().code(), row.code) << row.name << ": " << got.error().text;
    EXPECT_TRUE(got.error().text.starts_with("could not get http://127.0.0.1:")) << row.name;
  }
}

TEST_P(HostileServers, AHeadThatDripsHasItsTime) {
  be_patient_for(std::chrono::milliseconds(300));
  const Result<std::string, Problem> got = fetch([](Peer& peer) {
    static_cast<void>(peer.some());
    while (!peer.is_readable()) {
      if (peer.send_some("x") == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  ASSERT_FALSE(got);
  EXPECT_TRUE(got.error().code() == Errc::TimedOut ||
              got.error().code() == Errc::MalformedStartLine)
      << got.error().text;
}

TEST_P(HostileServers, ContentThatDripsHasTheTimeOfTheRequest) {
  options_.timeout = std::chrono::milliseconds(500);
  const Result<std::string, Problem> got = fetch([](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    while (!peer.is_readable()) {
      if (peer.send_some("x") == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::TimedOut) << got.error().text;
}

TEST_P(HostileServers, EndlessContentIsNoText) {
  const Result<std::string, Problem> got = fetch([](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string piece(65536, 'x');
    while (!peer.is_readable()) peer.send_some(piece);
  });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::BodyTooLong) << got.error().text;
}

TEST_P(HostileServers, MoreThanWasAskedForEndsTheConnection) {
  const Result<std::string, Problem> got = fetch([](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n");
    EXPECT_TRUE(peer.is_closed());
  });
  EXPECT_TRUE(got);
  EXPECT_EQ(got.value_or(""), "hello");
}

TEST_P(HostileServers, AResetIsToldAsOne) {
  const Result<std::string, Problem> got = fetch([](Peer& peer) {
    static_cast<void>(peer.some());
    peer.reset();
  });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Errc::Reset) << got.error().text;
}

INSTANTIATE_TEST_SUITE_P(All, HostileServers, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
