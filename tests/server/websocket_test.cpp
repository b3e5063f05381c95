// SPDX-License-Identifier: MIT
// WebSockets over a connection, on every back end: the handshake, messages both ways, and every way
// a socket can end.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "skua.hpp"
#include "support/echo_socket.hpp"
#include "support/test_worker.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::client_frame;
using testing::echo;
using testing::handshake;
using testing::TestWorker;
using testing::WebSocketClient;
using ws::Opcode;

class WebSockets : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    options_.hooks.log = [this](LogLevel, std::string_view line) { log_.append(line); };
  }
  TestWorker& worker() {
    if (worker_ == nullptr) worker_ = std::make_unique<TestWorker>(router_, GetParam(), options_);
    return *worker_;
  }
  WebSocketClient connect() {
    return WebSocketClient(worker().connect(), [this] { (*worker()).run_once(1ms); });
  }
  WebSocketClient open(std::string_view path, std::string_view fields = {}) {
    WebSocketClient client = connect();
    const std::string head = client.open(handshake(path, fields));
    EXPECT_EQ(head.substr(9, 3), testing::opened()) << head;
    return client;
  }
  std::size_t open_connections() {
    worker().settle();
    return worker().counters().connections_open;
  }

  Router router_;
  ServerOptions options_;
  std::string log_;
  std::unique_ptr<TestWorker> worker_;
};

TEST_P(WebSockets, TheHandshakeIsAnswered) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: fields of an Upgrade";
  router_.websocket("/echo", echo);
  WebSocketClient client = connect();
  const std::string head = client.open(handshake("/echo"));
  EXPECT_EQ(head.substr(0, 34), "HTTP/1.1 101 Switching Protocols\r\n");
  EXPECT_NE(head.find("Upgrade: websocket\r\n"), head.npos);
  EXPECT_NE(head.find("Connection: Upgrade\r\n"), head.npos);
  EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), head.npos);
  EXPECT_EQ(head.find("Connection: close"), head.npos);
  EXPECT_EQ(head.find("Content-"), head.npos);
  EXPECT_EQ(head.find("Transfer-Encoding"), head.npos);
}

TEST_P(WebSockets, MessagesAreEchoed) {
  router_.websocket("/echo", echo);
  WebSocketClient client = open("/echo");
  for (const std::size_t size : {0U, 1U, 125U, 126U, 65'535U, 65'536U, 1'000'000U}) {
    const std::string text(size, 'a');
    client.send(text);
    EXPECT_EQ(client.text(), text) << size;
    EXPECT_EQ(client.type(), MessageType::Text);
    client.send(Opcode::Binary, std::string(size, '\xff'));
    EXPECT_EQ(client.text(), std::string(size, '\xff')) << size;
    EXPECT_EQ(client.type(), MessageType::Binary);
  }
}

// Long messages may be sent at once, short ones at the end of the turn; all wait for a slow peer.
TEST_P(WebSockets, LongMessagesAndShortOnesStayInOrder) {
  const auto size_of = [](std::size_t i) { return i % 3 == 0 ? 70'000 + i * 1000 : i; };
  router_.websocket(
      "/many",
      WebSocketCallbacks{.message =
                             [&](WebSocket& socket, Message) {
                               for (std::size_t i = 0; i < 60; ++i) {
                                 socket.send(std::string(size_of(i), static_cast<char>('A' + i)));
                               }
                             }},
      {.queue_bytes = 16_MiB});
  WebSocketClient client = open("/many");
  client.send("go");
  worker().settle();
  for (std::size_t i = 0; i < 60; ++i) {
    ASSERT_TRUE(client.text() == std::string(size_of(i), static_cast<char>('A' + i))) << i;
  }
  client.send("again");
  EXPECT_EQ(client.text(), "A" + std::string(69'999, 'A'));
}

TEST_P(WebSockets, ALongMessageToAPeerThatIsGoneEndsTheSocket) {
  bool has_ended = false;
  router_.websocket(
      "/long",
      WebSocketCallbacks{.message =
                             [](WebSocket& socket, Message) {
                               for (int i = 0; i < 100; ++i) {
                                 socket.send(std::string(1'000'000, 'a'));
                               }
                             },
                         .close = [&](WebSocket&, const CloseReason&) { has_ended = true; }},
      {.queue_bytes = 256_MiB});
  {
    WebSocketClient client = open("/long");
    client.send("go");
  }
  for (int i = 0; i < 100 && !has_ended; ++i) worker().settle();
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(open_connections(), 0U);
}

TEST_P(WebSockets, MessagesOnTheHeelsOfTheHandshakeAreSeen) {
  router_.websocket("/echo", echo);
  WebSocketClient client = connect();
  std::string all = handshake("/echo") + client_frame(Opcode::Text, "one");
  all += client_frame(Opcode::Text, "two", false) + client_frame(Opcode::Ping, "p");
  all += client_frame(Opcode::Continuation, "three");
  client.open(all);
  EXPECT_EQ(client.text(), "one");
  EXPECT_EQ(client.text(), "<pong p>");
  EXPECT_EQ(client.text(), "twothree");
}

TEST_P(WebSockets, AHandshakeInPiecesIsOne) {
  router_.websocket("/echo", echo);
  WebSocketClient client = connect();
  for (const char c : handshake("/echo") + client_frame(Opcode::Text, "slow")) {
    client.send_raw({&c, 1});
    worker().settle();
  }
  EXPECT_EQ(client.read_head().substr(9, 3), testing::opened());
  EXPECT_EQ(client.text(), "slow");
}

// While the handler does not read, a peer cannot show that it is alive.
TEST_P(WebSockets, AHandlerThatTakesItsTimeDoesNotCostThePeerItsSocket) {
  Event go_on;
  router_.websocket("/slow", [&](WebSocket& socket) -> Task<> {
    co_await socket.receive();
    co_await go_on.wait();
    while (auto message = co_await socket.receive()) co_await socket.send(message->text);
  });
  WebSocketClient client = open("/slow");
  client.send("work");
  worker().settle();
  worker().advance(70s);  // WebSocketOptions::idle is 60 s
  go_on.set();
  worker().settle();
  worker().advance(29s);
  client.send("still here");
  EXPECT_EQ(client.text(), "still here");
  worker().advance(31s);
  EXPECT_EQ(client.text(), "<ping >");
}

TEST_P(WebSockets, AHandlerThatIsBusyMakesThePeerWait) {
  Event go_on;
  std::vector<std::string> seen;
  router_.websocket("/slow", [&](WebSocket& socket) -> Task<> {
    while (auto message = co_await socket.receive()) {
      co_await go_on.wait();
      seen.emplace_back(message->text);  // still valid, whatever has arrived since
    }
  });
  WebSocketClient client = open("/slow");
  std::string all;
  for (int i = 0; i < 1000; ++i) all += client_frame(Opcode::Text, "message " + std::to_string(i));
  client.send_raw(all);
  client.close(1000);
  worker().settle();
  EXPECT_TRUE(seen.empty());
  go_on.set();
  EXPECT_EQ(client.text(), "<close 1000 >");
  ASSERT_EQ(seen.size(), 1000U);
  EXPECT_EQ(seen.front(), "message 0");
  EXPECT_EQ(seen.back(), "message 999");
}

TEST_P(WebSockets, ThePeersCloseIsAnswered) {
  CloseReason reason;
  router_.websocket("/", [&](WebSocket& socket) -> Task<> {
    while (co_await socket.receive()) continue;
    reason = socket.close_reason();
  });
  WebSocketClient client = open("/");
  client.send(Opcode::Close, std::string("\x0f\xa1", 2) + "bye");
  EXPECT_EQ(client.text(), "<close 4001 >");
  EXPECT_EQ(client.text(), "<end>");
  EXPECT_FALSE(client.wire().was_reset());
  EXPECT_EQ(static_cast<int>(reason.code), 4001);
  EXPECT_EQ(reason.text, "bye");
}

TEST_P(WebSockets, AnEmptyCloseIsAnsweredWithAnEmptyOne) {
  router_.websocket("/echo", echo);
  WebSocketClient client = open("/echo");
  client.send(Opcode::Close, "");
  EXPECT_EQ(client.text(), "<close 1005 >");
  EXPECT_EQ(client.text(), "<end>");
}

TEST_P(WebSockets, AHandlerThatEndsCloses) {
  router_.websocket("/hello", [](WebSocket& socket) -> Task<> { co_await socket.send("hello"); });
  WebSocketClient client = open("/hello");
  EXPECT_EQ(client.text(), "hello");
  EXPECT_EQ(client.text(), "<close 1000 >");
  EXPECT_EQ(open_connections(), 1U);  // the peer has not answered yet
  client.close(1000);
  EXPECT_EQ(client.text(), "<end>");
}

TEST_P(WebSockets, AHandlerThatThrowsCloses) {
  router_.websocket("/", [](WebSocket& socket) -> Task<> {
    co_await socket.receive();
    throw std::runtime_error("secret");
  });
  WebSocketClient client = open("/");
  client.send("x");
  EXPECT_EQ(client.text(), "<close 1011 >");
  EXPECT_EQ(log_, "a WebSocket's handler failed: secret");
  EXPECT_EQ(worker().counters().handler_failures, 1U);
}

TEST_P(WebSockets, ACloseThatIsNotAnsweredEnds) {
  bool has_ended = false;
  router_.websocket("/", [&](WebSocket& socket) -> Task<> {
    socket.close(CloseCode::PolicyViolation, "go");
    EXPECT_FALSE(co_await socket.send("too late"));
    while (co_await socket.receive()) ADD_FAILURE() << "a message after the close";
    EXPECT_EQ(socket.close_reason().code, CloseCode::Abnormal);
    has_ended = true;
  });
  WebSocketClient client = open("/");
  EXPECT_EQ(client.text(), "<close 1008 go>");
  client.send("still talking");
  worker().settle();
  EXPECT_FALSE(has_ended);
  worker().advance(6s);
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(client.text(), "<end>");
}

TEST_P(WebSockets, APeerThatVanishesEndsTheHandler) {
  std::vector<CloseCode> ends;
  router_.websocket("/", [&](WebSocket& socket) -> Task<> {
    while (co_await socket.receive()) continue;
    ends.push_back(socket.close_reason().code);
  });
  open("/").wire().end();
  open("/").wire().reset();
  worker().turn_until([&] { return ends.size() >= 2; });
  EXPECT_EQ(ends, (std::vector{CloseCode::Abnormal, CloseCode::Abnormal}));
  worker().advance(3s);
  EXPECT_EQ(open_connections(), 0U);
}

TEST_P(WebSockets, AHandlerThatWaitsForSomethingElseIsDropped) {
  Event never;
  bool is_dropped = false;
  struct Guard {
    bool& flag;
    ~Guard() { flag = true; }
  };
  router_.websocket("/", [&](WebSocket&) -> Task<> {
    const Guard guard{is_dropped};
    co_await never.wait();
  });
  WebSocketClient client = open("/");
  client.close(1000);
  EXPECT_EQ(client.text(), "<close 1000 >");
  worker().settle();
  EXPECT_FALSE(is_dropped);
  worker().advance(6s);
  EXPECT_TRUE(is_dropped);
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
}

TEST_P(WebSockets, AControlCallbackThatThrowsClosesTheSocketAndNothingElse) {
  router_.websocket("/", [](WebSocket& socket) -> Task<> {
    socket.on_control([](WebSocketControl, std::string_view text) {
      throw std::runtime_error("cannot take " + std::string(text));
    });
    while (true) {
      const auto message = co_await socket.receive();
      if (!message) break;
    }
  });
  WebSocketClient client = open("/");
  client.send(Opcode::Ping, "a ping");
  EXPECT_EQ(client.text(), "<pong a ping>");
  EXPECT_EQ(client.text(), "<close 1011 >");
  EXPECT_NE(log_.find("cannot take a ping"), log_.npos) << log_;
  WebSocketClient other = open("/");
  other.send(Opcode::Text, "fine");
  other.close(1000);
  EXPECT_EQ(other.text(), "<close 1000 >");
}

TEST_P(WebSockets, ASilentPeerIsPingedAndThenGivenUp) {
  router_.websocket("/echo", echo);
  WebSocketClient client = open("/echo");
  worker().advance(29s);
  worker().advance(2s);
  EXPECT_EQ(client.text(), "<ping >");
  client.send(Opcode::Pong, "");
  worker().settle();
  worker().advance(31s);
  EXPECT_EQ(client.text(), "<ping >");
  worker().advance(30s);
  EXPECT_EQ(client.text(), "<close 1001 idle timeout>");
  EXPECT_EQ(client.text(), "<end>");
}

TEST_P(WebSockets, FramesThatBreakTheRulesAreRefused) {
  router_.websocket("/echo", echo, {.message_bytes = 1000});
  const std::pair<std::string, std::string> cases[] = {
      {"\x81\x01x", "<close 1002"},                                           // not masked
      {std::string("\xc1\x80\0\0\0\0", 6), "<close 1002"},                    // RSV1
      {client_frame(Opcode::Continuation, "x"), "<close 1002"},               // of no message
      {client_frame(Opcode::Text, "\xff"), "<close 1007"},                    // not UTF-8
      {client_frame(Opcode::Binary, std::string(1001, 'x')), "<close 1009"},  // too long
      {client_frame(Opcode::Close, "x"), "<close 1002"},
  };
  for (const auto& [bytes, expected] : cases) {
    WebSocketClient client = open("/echo");
    client.send_raw(bytes);
    EXPECT_EQ(client.text().substr(0, expected.size()), expected) << bytes;
    EXPECT_EQ(client.text(), "<end>");
  }
}

TEST_P(WebSockets, WhoIsRefusedInTheMiddleOfAMessageHearsWhy) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: the window stays shut";
  router_.websocket("/echo", echo, {.message_bytes = 1000});
  WebSocketClient client = open("/echo");
  client.send(Opcode::Binary, std::string(1'000'000, 'x'));  // the server reads all of it
  EXPECT_EQ(client.text().substr(0, 11), "<close 1009");
  EXPECT_EQ(client.text(), "<end>");
  EXPECT_FALSE(client.wire().was_reset());
}

TEST_P(WebSockets, ADrainingServerSaysGoodBye) {
  router_.websocket("/echo", echo);
  WebSocketClient client = open("/echo");
  (*worker()).begin_drain();
  EXPECT_EQ(client.text(), "<close 1001 the server is going away>");
  client.close(1001);
  EXPECT_EQ(client.text(), "<end>");
}

TEST_P(WebSockets, ADrainMaySayGoodByeToOneAfterTheOther) {
  options_.timeouts.websocket_spread = 4s;
  router_.websocket("/echo", echo);
  std::vector<WebSocketClient> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(open("/echo"));
  (*worker()).begin_drain();
  worker().settle();
  for (std::size_t i = 1; i < clients.size(); ++i) {
    clients[i].send("still here");
    EXPECT_EQ(clients[i].text(), "still here");
  }
  const auto says_good_bye = [&](std::size_t i) {
    worker().turn_until_readable(clients[i].wire());
    EXPECT_EQ(clients[i].text(), "<close 1001 the server is going away>");
  };
  says_good_bye(0);
  worker().advance(900ms);
  for (const std::size_t i : {1U, 2U, 3U}) EXPECT_FALSE(clients[i].wire().is_readable()) << i;
  worker().advance(100ms);
  says_good_bye(2);
  worker().advance(1400ms);
  for (const std::size_t i : {1U, 3U}) EXPECT_FALSE(clients[i].wire().is_readable()) << i;
  worker().advance(200ms);
  says_good_bye(1);
  worker().advance(700ms);
  EXPECT_FALSE(clients[3].wire().is_readable());
  worker().advance(200ms);
  says_good_bye(3);
}

TEST_P(WebSockets, HandlersTakePathParametersAndARequest) {
  router_.websocket("/rooms/{room}/{seat}",
                    [](Request& request, WebSocket& socket, std::string room, int seat) -> Task<> {
                      co_await socket.receive();
                      std::string text = room + " " + std::to_string(seat) + " ";
                      text.append(request.query("q").value_or("-")).append(" ");
                      text.append(request.header("X-A").value_or("-")).append(" ");
                      text.append(request.param("room").value_or("-"));
                      co_await socket.send(text);
                    });
  WebSocketClient client = open("/rooms/caf%C3%A9/7?q=1", "X-A: b\r\n");
  worker().settle();
  client.send("now");
  EXPECT_EQ(client.text(), "caf\xc3\xa9 7 1 b caf\xc3\xa9");
  WebSocketClient wrong = connect();
  EXPECT_EQ(wrong.open(handshake("/rooms/a/b")).substr(9, 3), "404");
}

INSTANTIATE_TEST_SUITE_P(Backends, WebSockets, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
