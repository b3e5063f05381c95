// SPDX-License-Identifier: MIT
// Content that a reverse proxy passes on while it arrives, and what happens when one side is slow,
// leaves or fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "proxy/proxy_fixture.hpp"
#include "server/record_keeper.hpp"
#include "support/closed_port.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::ProxyTest;
using testing::read_head;
using testing::ScriptedServer;

class ProxyStreaming : public ProxyTest {};
class ProxyFailures : public ProxyTest {
 protected:
  /// Passes a request on to a server that answers with these bytes and closes.
  std::optional<Answer> answer_to(std::string bytes) {
    ScriptedServer server([bytes = std::move(bytes)](Client& client) {
      read_head(client);
      client.send(bytes);
    });
    Client client = connect_to(server);
    client.send(get("/api"));
    return client.answer();
  }
};

const std::size_t large_bytes = testing::most_in_buffers() + 64_MiB;
const std::string block(64 * 1024, 'x');

/// Sends `large_bytes`, and reports how much it was asked to write so far.
Response large(std::atomic<std::size_t>& written, std::optional<std::uint64_t> length) {
  return Response::stream(
      "application/octet-stream",
      [&written](BodyWriter& out) -> Task<> {
        while (written < large_bytes) {
          written += block.size();
          co_await out.write(block);
        }
      },
      length);
}

TEST_P(ProxyStreaming, ALargeDownloadWaitsForASlowReader) {
  std::atomic<std::size_t> written{0};
  upstream_router_.get("/api", [&] { return large(written, large_bytes); });
  Client client = front().connect();
  client.send(get("/api"));
  // Between the producer and this reader are two servers and the buffers of the system.
  std::size_t most_waiting = 0;
  std::size_t received = 0;
  while (received < large_bytes) {
    const std::string more = client.some();
    ASSERT_FALSE(more.empty());
    most_waiting = std::max(most_waiting, written - std::min<std::size_t>(received, written));
    received += more.size();
  }
  EXPECT_LT(most_waiting, large_bytes - 32_MiB);
  EXPECT_EQ(written, large_bytes);
}

TEST_P(ProxyStreaming, ALargeUploadArrives) {
  std::atomic<std::size_t> received{0};
  upstream_router_.post("/api", [&received](Request& request) -> Task<Response> {
    while (true) {
      const std::optional<Bytes> piece = co_await request.read();
      if (!piece) break;
      received += piece->size();
    }
    co_return std::to_string(received);
  });
  Client client = front().connect();
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(8_MiB) +
              "\r\n\r\n");
  for (std::size_t sent = 0; sent < 8_MiB; sent += block.size()) client.send(block);
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, std::to_string(8_MiB));
}

// The limit of the server that receives the content is the only one.
TEST_P(ProxyStreaming, APauseOfTheClientIsNoFaultOfTheServer) {
  std::atomic<std::size_t> received{0};
  upstream_router_.post("/api", [&received](Request& request) -> Task<Response> {
    while (const std::optional<Bytes> piece = co_await request.read()) received += piece->size();
    co_return std::to_string(received);
  });
  proxy_options_.timeouts.idle = 50ms;
  Client client = front().connect();
  const std::string part(40'000, 'x');
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 80000\r\n\r\n" + part);
  while (received < 40'000) std::this_thread::yield();
  std::this_thread::sleep_for(200ms);  // the pause
  client.send(part);
  EXPECT_EQ(client.answer().value().body, "80000");
}

// No two parts of it are alike.
const std::string& noise() {
  static const std::string text = [] {
    std::string made;
    std::uint32_t state = 1;
    while (made.size() < 3_MiB) {
      state = state * 1'664'525 + 1'013'904'223;
      made += static_cast<char>(state >> 24U);
    }
    return made;
  }();
  return text;
}

/// Pieces of all sizes from one byte to 200 KiB: some are passed on as they are, others wait.
class Pieces {
 public:
  std::string_view next() {
    size_bytes_ = (size_bytes_ * 7 + 1) % 200'003;
    const std::string_view piece = std::string_view(noise()).substr(at_, size_bytes_);
    at_ += piece.size();
    return piece;
  }

 private:
  std::size_t at_ = 0;
  std::size_t size_bytes_ = 0;
};

TEST_P(ProxyStreaming, EveryByteOfADownloadArrivesInOrder) {
  const auto route = [this](auto pattern, std::optional<std::uint64_t> length) {
    upstream_router_.get(pattern, [length] {
      return Response::stream(
          "application/octet-stream",
          [](BodyWriter& out) -> Task<> {
            Pieces pieces;
            while (true) {
              const std::string_view piece = pieces.next();
              if (piece.empty()) break;
              co_await out.write(piece);
            }
          },
          length);
    });
  };
  route(RuntimePattern("/api/whole"), noise().size());
  route(RuntimePattern("/api/chunked"), std::nullopt);
  testing::RecordKeeper records(options_);
  Client client = front().connect();
  std::size_t count = 0;
  for (const std::string_view path : {"/api/whole", "/api/chunked", "/api/whole"}) {
    client.send(get(path));
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer) << path;
    EXPECT_TRUE(answer->body == noise()) << path << ", " << answer->body.size() << " bytes";
    const testing::KeptRecord record = records.await(++count).back();
    EXPECT_EQ(record.body_bytes, noise().size()) << path;
    EXPECT_GT(record.sent_bytes, noise().size()) << path;
    EXPECT_LT(record.sent_bytes, noise().size() + noise().size() / 100) << path;
  }
}

TEST_P(ProxyStreaming, EveryByteOfAnUploadArrivesInOrder) {
  upstream_router_.post("/api", [](Request& request) -> Task<Response> {
    std::string received;
    while (true) {
      const std::optional<Bytes> piece = co_await request.read();
      if (!piece) break;
      received += text(*piece);
      if (received.size() % 5 == 0) co_await sleep(1ms);  // some pieces have to wait
    }
    co_return received == noise() ? Status::NoContent : Status::BadRequest;
  });
  Client client = front().connect();
  for (const bool is_chunked : {false, true, false}) {
    client.send("POST /api HTTP/1.1\r\nHost: a\r\n" +
                (is_chunked ? std::string("Transfer-Encoding: chunked")
                            : "Content-Length: " + std::to_string(noise().size())) +
                "\r\n\r\n");
    Pieces pieces;
    while (true) {
      const std::string_view piece = pieces.next();
      if (piece.empty()) break;
      if (!is_chunked) {
        client.send(piece);
        continue;
      }
      std::array<char, 16> size{};
      const auto end = std::to_chars(size.data(), size.data() + size.size(), piece.size(), 16).ptr;
      client.send(std::string(size.data(), end).append("\r\n").append(piece).append("\r\n"));
    }
    if (is_chunked) client.send("0\r\n\r\n");
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 204) << is_chunked;
  }
}

TEST_P(ProxyStreaming, EventsFlowOneByOne) {
  std::promise<void> second;
  std::shared_future<void> go = second.get_future().share();
  upstream_router_.get("/api", [go] {
    return server_sent_events([go](EventWriter& out) -> Task<> {
      const ServerSentEvent one{.data = "one"};
      co_await out.send(one);
      while (go.wait_for(0s) != std::future_status::ready) {
        co_await sleep(1ms);
      }
      const ServerSentEvent two{.data = "two"};
      co_await out.send(two);
    });
  });
  Client client = front().connect();
  client.send(get("/api"));
  std::string received;
  while (received.find("data: one") == received.npos) received.append(client.some());
  EXPECT_EQ(received.find("data: two"), received.npos);
  second.set_value();
  while (received.find("data: two") == received.npos) received.append(client.some());
}

TEST_P(ProxyStreaming, TheResponseMayComeBeforeTheEndOfTheRequest) {
  upstream_router_.post("/api", [](Request& request) -> Task<Response> {
    co_return Response::stream("text/plain", [&request](BodyWriter& out) -> Task<> {
      while (true) {
        const std::optional<Bytes> piece = co_await request.read();
        if (!piece) break;
        co_await out.write(*piece);
      }
    });
  });
  Client client = front().connect();
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  std::string received;
  while (received.find("abc") == received.npos) received.append(client.some());
  client.send("3\r\ndef\r\n0\r\n\r\n");
  while (received.find("def") == received.npos) received.append(client.some());
}

// The server has sent a part of a short response, and waits for the rest of the request.
TEST_P(ProxyStreaming, AShortResponseIsNotHeldBackWhileTheRequestGoesOn) {
  ScriptedServer server([](Client& client) {
    std::string rest;
    read_head(client, rest);
    client.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none");
    while (rest.find("more") == rest.npos) rest.append(client.some());
    client.send("two");
  });
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
  std::string received;
  while (received.find("one") == received.npos) received.append(client.some());
  client.send("4\r\nmore\r\n0\r\n\r\n");
  while (received.find("two") == received.npos) received.append(client.some());
}

// Timeouts::body is for uploads that nobody answers yet.
TEST_P(ProxyStreaming, AConversationMayPause) {
  options_.timeouts.body = 2s;
  upstream_router_.post("/api", [](Request& request) -> Task<Response> {
    co_return Response::stream("text/plain", [&request](BodyWriter& out) -> Task<> {
      co_await out.write("begun,");
      while (true) {
        const std::optional<Bytes> piece = co_await request.read();
        if (!piece) break;
        co_await out.write(*piece);
      }
    });
  });
  upstream_router_.post("/api/all", [](Request& request) -> Task<Response> {
    const std::string text = co_await request.text();
    co_return text;
  });
  const std::string head = "POST /api HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  Client client = front().connect();
  client.send(head);
  std::string received;
  while (received.find("begun,") == received.npos) received.append(client.some());
  // Another upload that nobody answers is ended meanwhile.
  Client other = front().connect();
  other.send("POST /api/all HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(other.answer()->status, 408);
  client.send("3\r\nabc\r\n0\r\n\r\n");
  while (received.find("abc") == received.npos) {
    const std::string more = client.some();
    ASSERT_FALSE(more.empty()) << received;
    received.append(more);
  }
}

TEST_P(ProxyStreaming, AnUploadWaitsForASlowServer) {
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  std::atomic<std::size_t> received{0};
  upstream_router_.post("/api", [&received, gone](Request& request) -> Task<Response> {
    while (gone.wait_for(0s) != std::future_status::ready) co_await sleep(1ms);
    while (true) {
      const std::optional<Bytes> piece = co_await request.read();
      if (!piece) break;
      received += piece->size();
    }
    co_return std::to_string(received);
  });
  Client client = front().connect();
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(large_bytes) +
              "\r\n\r\n");
  // Until nothing more is taken, between this writer and the reader are two servers and the buffers
  // of the system.
  std::size_t sent = 0;
  if (!testing::speaks_http2()) {
    for (int idle = 0; idle < 5000 && sent < large_bytes; ++idle) {
      const std::size_t count = client.send_some(block);
      sent += count;
      if (count != 0) idle = 0;
      if (count == 0) std::this_thread::yield();
    }
    EXPECT_LT(sent, large_bytes - 32_MiB);
  }
  go.set_value();
  const std::string_view text = block;
  while (sent < large_bytes) {
    const std::string_view piece = text.substr(0, std::min(text.size(), large_bytes - sent));
    client.send(piece);
    sent += piece.size();
  }
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, std::to_string(large_bytes));
}

TEST_P(ProxyStreaming, AContinueComesFromTheUpstreamServer) {
  upstream_router_.post("/api", [](Request& request) -> Task<Response> {
    const std::string text = co_await request.text();
    co_return "got " + text;
  });
  upstream_router_.post("/api/no", [](Request&) -> Task<Response> { co_return Status::Forbidden; });
  Client client = front().connect();
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 100);
  client.send("abc");
  EXPECT_EQ(client.answer()->body, "got abc");
  client.send(
      "POST /api/no HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 403);
}

TEST_P(ProxyStreaming, ContentThatTheUpstreamServerDoesNotWantIsNotAskedFor) {
  ScriptedServer server([](Client& client) {
    EXPECT_NE(read_head(client).find("Expect: 100-continue\r\n"), std::string::npos);
    client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nno!\r\n0\r\n\r\n");
  });
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "no!");
}

TEST_P(ProxyStreaming, ALeavingClientEndsTheUpstreamRequest) {
  std::promise<void> cancelled;
  struct Told {
    std::promise<void>* promise;
    explicit Told(std::promise<void>& told) : promise(&told) {}
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;
    ~Told() { promise->set_value(); }
  };
  upstream_router_.get("/api", [&cancelled] {
    return Response::stream("text/plain", [&cancelled](BodyWriter& out) -> Task<> {
      const Told told(cancelled);
      while (true) {
        co_await out.write("tick\n");
        co_await sleep(1ms);
      }
    });
  });
  Client client = front().connect();
  client.send(get("/api"));
  EXPECT_FALSE(client.some().empty());
  client.reset();
  EXPECT_EQ(cancelled.get_future().wait_for(20s), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyStreaming, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(ProxyFailures, ARefusedConnectionIsA502WithAReasonInTheLog) {
  const testing::ClosedPort closed;
  const std::string whom = "127.0.0.1:" + std::to_string(closed.number());
  Client client = front_to("http://" + whom).connect();
  client.send(get("/api/x"));
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 502);
  EXPECT_EQ(answer->body.find("127.0.0.1"), std::string::npos);
  EXPECT_NE(log().find("GET /api/x: could not "), std::string::npos) << log();
  EXPECT_NE(log().find(whom), std::string::npos) << log();
}

TEST_P(ProxyFailures, ASilentServerIsA504) {
  proxy_options_.timeouts.response = 1ms;
  std::promise<void> done;
  ScriptedServer server([&done](Client& client) {
    read_head(client);
    done.get_future().wait();
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  const std::optional<Answer> answer = client.answer();
  done.set_value();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 504);
  EXPECT_NE(log().find("no response head"), std::string::npos) << log();
}

TEST_P(ProxyFailures, AMalformedResponseIsA502) {
  for (const char* const bad : {
           "nonsense\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
           "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
           "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
           "",
       }) {
    ScriptedServer server([bad](Client& client) {
      read_head(client);
      client.send(bad);
    });
    Router router;
    reverse_proxy(router, "/api", "http://127.0.0.1:" + std::to_string(server.port()));
    const testing::TestServer front(router, GetParam());
    Client client = front.connect();
    client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    const std::optional<Answer> answer = client.answer();
    ASSERT_TRUE(answer) << bad;
    EXPECT_EQ(answer->status, 502) << bad;
  }
}

TEST_P(ProxyFailures, ATruncatedResponseNeverEndsCleanly) {
  const std::string body(100'000, 'x');
  for (const std::string head :
       {"Content-Length: 200000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n30D40\r\n"}) {
    ScriptedServer server([&](Client& client) {
      read_head(client);
      client.send("HTTP/1.1 200 OK\r\n" + head + body);
    });
    Router router;
    reverse_proxy(router, "/api", "http://127.0.0.1:" + std::to_string(server.port()));
    const testing::TestServer front(router, GetParam());
    Client client = front.connect();
    client.send(get("/api"));
    EXPECT_EQ(client.answer(), std::nullopt) << head;
  }
}

TEST_P(ProxyFailures, AShortResponseThatIsTruncatedIsA502) {
  const std::optional<Answer> answer = answer_to("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 502);
}

constexpr std::string_view hinted =
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"
    "HTTP/1.1 102 Processing\r\n\r\n"
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

TEST_P(ProxyStreaming, InterimResponsesArePassedOn) {
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send(hinted);
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  const std::optional<Answer> hints = client.answer();
  ASSERT_TRUE(hints);
  EXPECT_EQ(hints->status, 103);
  EXPECT_EQ(hints->field("Link"), "</a.css>");
  EXPECT_EQ(hints->field("X-Hop"), std::nullopt);
  EXPECT_EQ(client.answer()->status, 102);
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hi");
}

// RFC 9110 §15.2
TEST_P(ProxyStreaming, InterimResponsesAreNotForHttp10) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: a version of the request";
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send(hinted);
  });
  Client client = connect_to(server);
  client.send("GET /api HTTP/1.0\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 200);
}

TEST_P(ProxyStreaming, AnInterimResponseComesAtOnce) {
  std::promise<void> seen;
  ScriptedServer server([&seen](Client& client) {
    read_head(client);
    client.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
    seen.get_future().wait();
    client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  });
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(client.answer()->status, 103);
  seen.set_value();
  EXPECT_EQ(client.answer()->body, "hi");
}

TEST_P(ProxyFailures, ADeadConnectionIsReplacedForIdempotentRequests) {
  // The first connection ends after its response, without saying so before.
  ScriptedServer server({[](Client& client) {
                           read_head(client);
                           client.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
                           read_head(client);  // then closes without an answer
                         },
                         [](Client& client) {
                           read_head(client);
                           client.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
                         }});
  Client client = connect_to(server);
  client.send(get("/api"));
  EXPECT_EQ(client.answer()->body, "one");
  client.send(get("/api"));
  EXPECT_EQ(client.answer()->body, "two");
}

TEST_P(ProxyFailures, ADeadConnectionIsReplacedForIdempotentRequestsWithShortContent) {
  std::string content;
  ScriptedServer server({[](Client& client) {
                           std::string rest;
                           read_head(client, rest);
                           client.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
                           read_head(client, rest);
                         },
                         [&content](Client& client) {
                           read_head(client, content);
                           while (content.size() < 5) content.append(client.some());
                           client.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo");
                         }});
  Client client = connect_to(server);
  client.send(get("/api"));
  EXPECT_EQ(client.answer()->body, "one");
  client.send("PUT /api HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(client.answer()->body, "two");
  EXPECT_EQ(content, "hello");
}

TEST_P(ProxyFailures, ADeadConnectionFailsARequestThatIsNotIdempotent) {
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
    read_head(client);
  });
  Client client = connect_to(server);
  client.send(get("/api"));
  EXPECT_EQ(client.answer()->body, "one");
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.answer()->status, 502);
}

TEST_P(ProxyFailures, AnEarlyRefusalReachesTheUploadingClient) {
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!");
  });
  Client client = connect_to(server);
  client.send("POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\nabc");
  const std::optional<Answer> answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(answer->body, "no!");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyFailures, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
