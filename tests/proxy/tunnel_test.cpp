// SPDX-License-Identifier: MIT
// WebSockets through a reverse proxy, from HTTP/1.1 and HTTP/2.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>

#include "proxy/proxy_fixture.hpp"
#include "support/echo_socket.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::client_frame;
using testing::echo;
using testing::handshake;
using testing::opened;
using testing::ProxyTest;
using testing::read_head;
using testing::ScriptedServer;
using testing::WebSocketClient;

// The answer to the key of handshake(). RFC 6455 §1.3
constexpr std::string_view switched =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

class ProxyTunnels : public ProxyTest {
 protected:
  WebSocketClient open(std::string_view fields = {}) {
    WebSocketClient client(front().connect());
    const std::string head = client.open(handshake("/api/ws", fields));
    EXPECT_EQ(head.substr(9, 3), opened()) << head;
    return client;
  }
};

TEST_P(ProxyTunnels, MessagesPassInBothDirections) {
  upstream_router_.websocket("/api/ws", echo);
  WebSocketClient client = open();
  for (const std::size_t size : {5U, 200U, 70'000U, 1'000'000U}) {
    const std::string text(size, 'x');
    client.send(text);
    EXPECT_EQ(client.text(), text);
  }
  client.close(1000);
  EXPECT_EQ(client.text(), "<close 1000 >");
}

TEST_P(ProxyTunnels, TheUpstreamServerNegotiates) {
  upstream_router_.websocket("/api/ws", echo, {.subprotocols = {"chat.v2"}});
  WebSocketClient client(front().connect());
  const std::string head =
      client.open(handshake("/api/ws", "Sec-WebSocket-Protocol: chat.v1, chat.v2\r\n"));
  EXPECT_NE(head.find("chat.v2"), head.npos) << head;
  EXPECT_EQ(head.find("chat.v1"), head.npos) << head;
}

TEST_P(ProxyTunnels, ARefusedHandshakeIsPassedOn) {
  upstream_router_.websocket("/api/ws", echo);
  WebSocketClient client(front().connect());
  const std::string head =
      client.open(handshake("/api/ws", "Origin: http://elsewhere.example\r\n"));
  EXPECT_EQ(head.substr(9, 3), "403") << head;
}

TEST_P(ProxyTunnels, ManyTunnelsAndRequestsShareAProxy) {
  upstream_router_.websocket("/api/ws", echo);
  upstream_router_.get("/api/plain", [] { return "plain"; });
  WebSocketClient first = open();
  WebSocketClient second = open();
  Client plain = front().connect();
  plain.send(testing::get("/api/plain"));
  EXPECT_EQ(plain.answer()->body, "plain");
  second.send("two");
  first.send("one");
  EXPECT_EQ(first.text(), "one");
  EXPECT_EQ(second.text(), "two");
}

TEST_P(ProxyTunnels, TheEndOfTheServersSideEndsTheTunnel) {
  upstream_router_.websocket("/api/ws", [](WebSocket& socket) -> Task<> {
    co_await socket.send("bye");
    socket.close();
  });
  WebSocketClient client = open();
  EXPECT_EQ(client.text(), "bye");
  EXPECT_EQ(client.text(), "<close 1000 >");
  client.close(1000);
  EXPECT_EQ(client.text(), "<end>");
}

TEST_P(ProxyTunnels, ALeavingClientEndsTheUpstreamSocket) {
  std::promise<void> left;
  upstream_router_.websocket("/api/ws", [&left](WebSocket& socket) -> Task<> {
    co_await socket.send("hi");
    while (co_await socket.receive()) {
    }
    left.set_value();
  });
  WebSocketClient client = open();
  EXPECT_EQ(client.text(), "hi");
  client.wire().reset();
  EXPECT_EQ(left.get_future().wait_for(20s), std::future_status::ready);
}

TEST_P(ProxyTunnels, TheEndOfTheClientsSideIsPassedOn) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: the end of a connection";
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send(switched);
    std::string all;
    while (true) {
      const std::string more = client.some();
      if (more.empty()) break;
      all.append(more);
    }
    client.send("heard " + all);
  });
  Client client = connect_to(server);
  client.send(handshake("/api/ws"));
  std::string received;
  EXPECT_TRUE(read_head(client, received).starts_with("HTTP/1.1 101 "));
  client.send("some bytes");
  client.end();
  EXPECT_EQ(received + client.rest(), "heard some bytes");
}

TEST_P(ProxyTunnels, BytesRightBehindTheHeadsAreNotLost) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: the key is the client's";
  ScriptedServer server([](Client& client) {
    std::string rest;
    read_head(client, rest);
    client.send(std::string(switched) + "from the server");
    while (rest.find("from the client") == rest.npos) rest.append(client.some());
    client.send(", heard");
  });
  Client client = connect_to(server);
  client.send(handshake("/api/ws") + "from the client");
  std::string received;
  EXPECT_TRUE(read_head(client, received).starts_with("HTTP/1.1 101 "));
  EXPECT_EQ(received + client.rest(), "from the server, heard");
}

TEST_P(ProxyTunnels, AServerThatHasNotReadTheKeyIsRefused) {
  ScriptedServer server([](Client& client) {
    read_head(client);
    client.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n");
  });
  WebSocketClient client(connect_to(server));
  EXPECT_EQ(client.open(handshake("/api/ws")).substr(9, 3), "502");
}

TEST_P(ProxyTunnels, OtherProtocolsAreNotOffered) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: Upgrade";
  std::string head;
  {
    ScriptedServer server([&head](Client& client) {
      head = read_head(client);
      client.send("HTTP/1.1 204 No Content\r\n\r\n");
    });
    Client client = connect_to(server);
    client.send(testing::get("/api", "Upgrade: h2c, x\r\nConnection: Upgrade\r\n"));
    EXPECT_EQ(client.answer()->status, 204);
  }
  EXPECT_EQ(head.find("Upgrade"), head.npos) << head;
}

TEST_P(ProxyTunnels, ASlowClientStopsTheServer) {
  // Far more than fits in the buffers of the system.
  const std::size_t messages = 1024 + testing::most_in_buffers() / (64 * 1024);
  std::atomic<std::size_t> sent{0};
  upstream_router_.websocket("/api/ws", [&sent, messages](WebSocket& socket) -> Task<> {
    const std::string text(64 * 1024, 'x');
    for (; sent < messages; ++sent) co_await socket.send(text);
    while (co_await socket.receive()) {
    }
  });
  WebSocketClient client = open();
  std::size_t most_waiting = 0;
  for (std::size_t received = 0; received < messages; ++received) {
    const std::string text = client.text();
    ASSERT_EQ(text.size(), 64U * 1024) << text << received;
    most_waiting = std::max(most_waiting, sent - std::min<std::size_t>(received, sent));
  }
  EXPECT_LT(most_waiting, messages - 512);
}

// With io_uring, bytes may arrive although nobody reads yet.
TEST_P(ProxyTunnels, BytesThatArriveBeforeItStartsStayInOrder) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: the key is the client's";
  std::promise<void> has_switched;
  std::atomic<bool> is_sent = false;
  router_.use([&](Request& request, Next next) -> Task<Response> {
    Response response = co_await next(request);
    has_switched.set_value();
    while (!is_sent) co_await sleep(1ms);
    co_return response;
  });
  ScriptedServer server([&](Client& client) {
    read_head(client);
    client.send(std::string(switched) + "one ");
    has_switched.get_future().wait();
    client.send("two ");
    is_sent = true;
    client.some();
    client.send("three");
  });
  Client client = connect_to(server);
  client.send(handshake("/api/ws"));
  std::string received;
  EXPECT_TRUE(read_head(client, received).starts_with("HTTP/1.1 101 "));
  client.send("go");
  EXPECT_EQ(received + client.rest(), "one two three");
}

TEST_P(ProxyTunnels, OneThatIsNeverStartedClosesTheUpstreamConnection) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: the key is the client's";
  router_.use([](Request& request, Next next) -> Task<Response> {
    co_await next(request);
    co_return Response(Status::Forbidden);
  });
  std::promise<std::string> heard;
  ScriptedServer server([&heard](Client& client) {
    read_head(client);
    client.send(switched);
    heard.set_value(client.some());
  });
  Client client = connect_to(server);
  client.send(handshake("/api/ws"));
  EXPECT_EQ(client.answer()->status, 403);
  EXPECT_EQ(heard.get_future().get(), "");
}

// Sends every message back, and returns why the socket was closed.
Task<> echo_until_closed(WebSocket& socket, std::promise<CloseCode>& closed) {
  while (auto message = co_await socket.receive()) co_await socket.send(message->text);
  closed.set_value(socket.close_reason().code);
}

TEST_P(ProxyTunnels, ADrainSaysGoodByeToBothSides) {
  std::promise<CloseCode> closed;
  upstream_router_.websocket(
      "/api/ws", [&closed](WebSocket& socket) { return echo_until_closed(socket, closed); });
  WebSocketClient client = open();
  client.send("hi");
  EXPECT_EQ(client.text(), "hi");
  front()->begin_shutdown();
  EXPECT_EQ(client.text(), "<close 1001 the server is going away>");
  EXPECT_EQ(closed.get_future().get(), CloseCode::GoingAway);
  EXPECT_EQ(client.text(), "<end>");
  front()->wait();
}

TEST_P(ProxyTunnels, ADrainEndsOneAfterTheOther) {
  options_.timeouts.websocket_spread = 24h;
  upstream_router_.websocket("/api/ws", echo);
  WebSocketClient one = open();
  WebSocketClient other = open();
  front()->begin_shutdown();
  EXPECT_EQ(one.text(), "<close 1001 the server is going away>");  // its turn is at once
  other.send("still here");
  EXPECT_EQ(other.text(), "still here");
  other.close(1000);
  EXPECT_EQ(other.text(), "<close 1000 >");
  front()->wait();
}

TEST_P(ProxyTunnels, TheyMayOutlastADrain) {
  proxy_options_.tunnels_outlast_drains = true;
  upstream_router_.websocket("/api/ws", echo);
  WebSocketClient client = open();
  front()->begin_shutdown();
  for (int i = 0; i < 3; ++i) {
    client.send("still here");
    EXPECT_EQ(client.text(), "still here");
  }
  client.close(1000);
  EXPECT_EQ(client.text(), "<close 1000 >");
  front()->wait();
}

TEST_P(ProxyTunnels, ADrainWaitsForTheEndOfAFrame) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: a scripted server";
  constexpr std::size_t close_bytes = 6 + 2 + std::string_view("the server is going away").size();
  for (const std::size_t size : {5U, 300U, 70'000U}) {
    const std::string frame = client_frame(ws::Opcode::Text, std::string(size, 'x'));
    std::string heard;
    {
      ScriptedServer server([&](Client& client) {
        read_head(client, heard);
        client.send(switched);
        while (true) {
          const std::string more = client.some();
          if (more.empty()) break;
          if (heard.empty()) client.send("\x81\x02ok");
          heard.append(more);
          if (heard.size() >= frame.size() + close_bytes) break;
        }
      });
      reset_front();
      WebSocketClient client(connect_to(server));
      client.open(handshake("/api/ws"));
      client.send_raw(frame.substr(0, 3));  // within the header of the longer ones
      EXPECT_EQ(client.text(), "ok");
      front_to("")->begin_shutdown();
      EXPECT_EQ(client.text(), "<close 1001 the server is going away>");
      client.send_raw(frame.substr(3) + client_frame(ws::Opcode::Text, "too late"));
      EXPECT_EQ(client.text(), "<end>");
    }
    ASSERT_EQ(heard.size(), frame.size() + close_bytes);
    EXPECT_EQ(heard.substr(0, frame.size()), frame);
    EXPECT_EQ(heard[frame.size()], '\x88') << "a close frame follows";
  }
}

TEST_P(ProxyTunnels, ASilentTunnelEnds) {
  proxy_options_.timeouts.tunnel = 1ms;
  upstream_router_.websocket("/api/ws", echo);
  WebSocketClient client = open();
  EXPECT_EQ(client.text(), "<end>");
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, ProxyTunnels, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
