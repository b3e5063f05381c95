// SPDX-License-Identifier: MIT
// Servers behind a gateway that refuse, hang, reset, lie about lengths, answer garbage, or come and
// go. Each row says what the client sees, what the log says, and how the metrics count it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/upstream_fixture.hpp"
#include "support/closed_port.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::ClosedPort;
using testing::Gateway;
using testing::get;
using testing::read_head;
using testing::ScriptedServer;
using testing::wait_until;

// A server's part in a connection. Null: it accepts none.
using Script = void (*)(Client& peer);

constexpr Script refuses = nullptr;

template <std::size_t N>
struct Text {
  constexpr Text(const char (&text)[N]) { std::copy_n(text, N, bytes); }
  char bytes[N];
};
// Answers a request without content with these bytes, then closes.
template <Text text>
void answers(Client& peer) {
  read_head(peer);
  peer.send(text.bytes);
}
// Likewise, but waits for the proxy to close.
template <Text text>
void hangs_after(Client& peer) {
  read_head(peer);
  peer.send(text.bytes);
  peer.rest();
}
void closes_at_once(Client&) {}
void closes(Client& peer) { read_head(peer); }
void resets(Client& peer) {
  read_head(peer);
  peer.reset();
}
void hangs(Client& peer) { peer.rest(); }
void sends_a_long_head(Client& peer) {
  read_head(peer);
  peer.send("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  peer.rest();
}
void announces_too_much(Client& peer) {
  read_head(peer);
  peer.send("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + std::string(30'000, 'x'));
}
void stalls_in_its_content(Client& peer) {
  read_head(peer);
  peer.send("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + std::string(30'000, 'x'));
  peer.rest();
}
// Answers with the content of the request.
void echoes(Client& peer) {
  std::string content;
  const std::string head = read_head(peer, content);
  const std::size_t wanted = head.find("hunked") != head.npos ? 10 : 5;  // 5 CRLF hello
  while (content.size() < wanted) {
    const std::string more = peer.some();
    if (more.empty()) return;
    content.append(more);
  }
  const bool is_whole = content.find("hello") != content.npos;
  peer.send(is_whole ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                     : "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
}
// Reads the content, and closes.
void closes_after_content(Client& peer) {
  std::string content;
  read_head(peer, content);
  while (content.find("hello") == content.npos) {
    const std::string more = peer.some();
    if (more.empty()) return;
    content.append(more);
  }
}

constexpr Script is_well = answers<"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok">;
constexpr Script is_down = answers<"HTTP/1.1 503 Down\r\nContent-Length: 4\r\n\r\ndown">;
constexpr Script is_wrong = answers<"nonsense\r\n\r\n">;

const std::string gets = get("/api/x");
const std::string posts = "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
const std::string posts_content =
    "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const std::string puts_content = "PUT /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const std::string puts_a_stream =
    "PUT /api/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
const std::string puts_a_long_stream =
    "PUT /api/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8000\r\n" +
    std::string(0x8000 - 5, 'x') + "hello\r\n0\r\n\r\n";

constexpr int cut = 0;  // the response breaks off

struct Row {
  const char* name;
  Script first;
  const std::string& request = gets;
  int status = 502;         // that the client sees
  const char* log = "";     // a part of it; empty: there is none
  const char* result = "";  // in the metrics of the first server
  // The second server, if there is one, and its result. It is asked after the first one.
  std::optional<Script> second{};
  const char* second_result = nullptr;  // null: it is not asked
};

const Row rows[] = {
    // One server that is well.
    {.name = "answers", .first = is_well, .status = 200, .result = "answered"},
    {.name = "does not know the path",
     .first = answers<"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n">,
     .status = 404,
     .result = "answered"},
    {.name = "fails",
     .first = answers<"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n">,
     .status = 500,
     .result = "server_error"},
    {.name = "says that it is down", .first = is_down, .status = 503, .result = "unavailable"},
    {.name = "sends more than it said",
     .first = answers<"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok, and more">,
     .status = 200,
     .result = "answered"},

    // One server without an answer.
    {.name = "refuses",
     .first = refuses,
     .log = "the connection was refused",
     .result = "connect_failed"},
    {.name = "closes at once", .first = closes_at_once, .log = "GET /api/x: ", .result = "closed"},
    {.name = "closes without an answer",
     .first = closes,
     .log = "the server closed the connection without an answer",
     .result = "closed"},
    {.name = "resets the connection",
     .first = resets,
     .log = "the peer reset the connection",
     .result = "closed"},
    {.name = "hangs",
     .first = hangs,
     .status = 504,
     .log = "no response head within",
     .result = "timeout"},
    {.name = "hangs in the middle of a head",
     .first = hangs_after<"HTTP/1.1 200 OK\r\nContent-Le">,
     .status = 504,
     .log = "no response head within",
     .result = "timeout"},
    {.name = "closes in the middle of a head",
     .first = answers<"HTTP/1.1 200 OK\r\nContent-Le">,
     .log = "the server closed the connection in the middle of its answer",
     .result = "closed"},

    // One server that is wrong.
    {.name = "does not speak HTTP",
     .first = is_wrong,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "speaks another version",
     .first = answers<"HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n">,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "has no status",
     .first = answers<"HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n">,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "has two lengths",
     .first = answers<"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab">,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "has a length and chunks",
     .first = answers<"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "0\r\n\r\n">,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "has a negative length",
     .first = answers<"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n">,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "has a folded field",
     .first = answers<"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n">,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "has an endless head",
     .first = sends_a_long_head,
     .log = "GET /api/x: ",
     .result = "malformed"},
    {.name = "switches to a protocol that nobody asked for",
     .first = answers<"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n">,
     .log = "GET /api/x: ",
     .result = "malformed"},

    // One server that fails in its content. What is short is read before it is passed on.
    {.name = "closes in short content",
     .first = answers<"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc">,
     .log = "GET /api/x: ",
     .result = "incomplete"},
    {.name = "hangs in short content",
     .first = hangs_after<"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc">,
     .status = 504,
     .log = "no more content",
     .result = "timeout"},
    {.name = "closes in long content",
     .first = announces_too_much,
     .status = cut,
     .log = "could not ",
     .result = "incomplete"},
    {.name = "hangs in long content",
     .first = stalls_in_its_content,
     .status = cut,
     .log = "no more content",
     .result = "timeout"},
    {.name = "closes in chunks",
     .first = answers<"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc">,
     .status = cut,
     .log = "could not ",
     .result = "incomplete"},
    {.name = "sends a malformed chunk",
     .first = answers<"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc">,
     .log = "could not ",
     .result = "malformed"},

    // Two servers: the second one helps out if that is safe.
    {.name = "refuses a request of any method",
     .first = refuses,
     .request = posts,
     .status = 200,
     .result = "connect_failed",
     .second = is_well,
     .second_result = "answered"},
    {.name = "refuses content, which is still there",
     .first = refuses,
     .request = posts_content,
     .status = 200,
     .result = "connect_failed",
     .second = echoes,
     .second_result = "answered"},
    {.name = "refuses a stream, of which nothing was read",
     .first = refuses,
     .request = puts_a_stream,
     .status = 200,
     .result = "connect_failed",
     .second = echoes,
     .second_result = "answered"},
    {.name = "closes, and the method is idempotent",
     .first = closes,
     .status = 200,
     .result = "closed",
     .second = is_well,
     .second_result = "answered"},
    {.name = "closes, and the method is not",
     .first = closes,
     .request = posts,
     .log = "POST /api/x: ",
     .result = "closed",
     .second = is_well},
    {.name = "closes after content that was kept",
     .first = closes_after_content,
     .request = puts_content,
     .status = 200,
     .result = "closed",
     .second = echoes,
     .second_result = "answered"},
    {.name = "closes after a stream that was kept",
     .first = closes_after_content,
     .request = puts_a_stream,
     .status = 200,
     .result = "closed",
     .second = echoes,
     .second_result = "answered"},
    {.name = "closes after content that is gone",
     .first = closes_after_content,
     .request = puts_a_long_stream,
     .log = "PUT /api/x: ",
     .result = "closed",
     .second = echoes},
    {.name = "is down, and the method is idempotent",
     .first = is_down,
     .status = 200,
     .result = "unavailable",
     .second = is_well,
     .second_result = "answered"},
    {.name = "is down, and the method is not",
     .first = is_down,
     .request = posts,
     .status = 503,
     .result = "unavailable",
     .second = is_well},
    {.name = "does not speak HTTP, but the other does",
     .first = is_wrong,
     .status = 200,
     .result = "malformed",
     .second = is_well,
     .second_result = "answered"},
    {.name = "hangs, which takes too long to try again",
     .first = hangs,
     .status = 504,
     .log = "no response head within",
     .result = "timeout",
     .second = is_well},
    {.name = "refuses like the other",
     .first = refuses,
     .log = "; then could not ",
     .result = "connect_failed",
     .second = refuses,
     .second_result = "connect_failed"},
    {.name = "fails in its content, after which nothing is repeated",
     .first = announces_too_much,
     .status = cut,
     .log = "could not ",
     .result = "incomplete",
     .second = is_well},
};

/// A server with a script, or a port without one.
class Server {
 public:
  explicit Server(Script script) {
    if (script == refuses) {
      closed_.emplace();
    } else {
      scripted_.emplace(script);
    }
  }
  [[nodiscard]] std::uint16_t port() const {
    return closed_ ? closed_->number() : scripted_->port();
  }

 private:
  std::optional<ClosedPort> closed_{};
  std::optional<ScriptedServer> scripted_{};
};

class FailingServers : public ::testing::TestWithParam<BackendChoice> {};

TEST_P(FailingServers, AreReportedAsTheTableSays) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Server first(row.first);
    std::optional<Server> second;
    Gateway gateway(GetParam());  // ends first, as scripts wait for it
    gateway.add(first);
    if (row.second) gateway.add(second.emplace(*row.second));
    const std::string_view expected_log = row.log;
    const auto limit = [&](std::string_view lack) -> Duration {
      return expected_log == lack ? Duration(50ms) : Duration(20s);
    };
    gateway.proxy_options.timeouts.response = limit("no response head within");
    gateway.proxy_options.timeouts.idle = limit("no more content");

    const std::optional<Answer> answer = gateway.ask(row.request);
    EXPECT_EQ(answer ? answer->status : cut, row.status);
    wait_until([&] { return gateway.requests(0, row.result) == 1; });
    if (row.second) {
      const bool is_asked = row.second_result != nullptr;
      if (is_asked) wait_until([&] { return gateway.requests(1, row.second_result) == 1; });
      EXPECT_EQ(gateway.of_target("skua_upstream_retries_total", 0), is_asked ? 1 : 0);
      EXPECT_EQ(gateway.upstream().targets()[1].requests, is_asked ? 1U : 0U);
    }
    EXPECT_EQ(gateway.upstream().targets()[0].requests, 1U);
    for (std::size_t i = 0; i < gateway.size(); ++i) {
      wait_until([&] { return gateway.upstream().targets()[i].outstanding == 0; });
    }
    const std::string log = gateway.log();
    EXPECT_EQ(log.empty(), *row.log == '\0') << log;
    EXPECT_NE(log.find(row.log), log.npos) << log;
    const std::string body = answer ? answer->body : "";
    EXPECT_EQ(body.find("127.0.0.1"), body.npos) << body;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, FailingServers, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
