// SPDX-License-Identifier: MIT
// How a WebSocket on an HTTP/2 stream ends: by a close, by the end or reset of the stream or of the
// connection, by timeout, or with the server. RFC 8441 §5
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/http2_sockets.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;
using testing::client_frame;
using ws::Opcode;

using Codes = std::vector<CloseCode>;

class Http2WebSocketEnds : public testing::Http2Sockets {};

TEST_P(Http2WebSocketEnds, ACloseEndsTheStream) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  const std::string close = client_frame(Opcode::Close, std::string("\x0f\xa1", 2));
  EXPECT_EQ(say(client, frames::data(1, close, frames::end)), "DATA(1)!");
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(static_cast<int>(ends_[0]), 4001);
  EXPECT_EQ(alive_, 0);
}

TEST_P(Http2WebSocketEnds, AHandlerThatEndsCloses) {
  router_.websocket("/hello", [](WebSocket& socket) -> Task<> { co_await socket.send("hello"); });
  Client client = greeted();
  say(client, connect_to(1, "/hello"));
  EXPECT_EQ(say(client, close(1)), "DATA(1)!");
  EXPECT_EQ(say(client, frames::data(1, "", frames::end)), "");
  worker().advance(3s);
  EXPECT_EQ(heard(client), "");
}

TEST_P(Http2WebSocketEnds, APeerThatDoesNotEndItsSideIsNotWaitedForLong) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  EXPECT_EQ(say(client, close(1)), "DATA(1)!");
  EXPECT_EQ(ends_, Codes{CloseCode::Normal});
  EXPECT_EQ(say(client, frames::data(1, std::string(10'000, 'x'))), "");
  worker().advance(1s);
  EXPECT_EQ(heard(client), "");
  worker().advance(2s);
  EXPECT_EQ(heard(client), "RST_STREAM(1,CANCEL)");
}

TEST_P(Http2WebSocketEnds, ACloseThatIsNotAnsweredEndsTheStream) {
  router_.websocket("/go", [this](WebSocket& socket) -> Task<> {
    socket.close(CloseCode::PolicyViolation, "go");
    while (co_await socket.receive()) ADD_FAILURE() << "a message after the close";
    ends_.push_back(socket.close_reason().code);
  });
  Client client = greeted();
  EXPECT_EQ(say(client, connect_to(1, "/go")), "HEADERS(1) DATA(1)");
  EXPECT_EQ(say(client, message(1, "still talking")), "");
  worker().advance(6s);
  EXPECT_EQ(heard(client), "DATA(1)!");
  EXPECT_EQ(ends_, Codes{CloseCode::Abnormal});
  worker().advance(3s);
  EXPECT_EQ(heard(client), "RST_STREAM(1,CANCEL)");
}

TEST_P(Http2WebSocketEnds, AnEndOrAResetWithoutACloseIsALoss) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a") + connect_to(3, "/ws/a") + connect_to(5, "/ws/a", {}, true));
  EXPECT_EQ(ends_, Codes{CloseCode::Abnormal});
  EXPECT_EQ(say(client, frames::data(1, "", frames::end)), "DATA(1)!");
  EXPECT_EQ(ends_, Codes(2, CloseCode::Abnormal));
  EXPECT_EQ(say(client, frames::reset(3)), "");
  EXPECT_EQ(ends_, Codes(3, CloseCode::Abnormal));
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(worker().counters().handlers_cancelled, 0U);
}

TEST_P(Http2WebSocketEnds, ALostConnectionEndsAllItsSockets) {
  router_.websocket("/stuck", [this](WebSocket& socket) -> Task<> {
    const Held held(alive_);
    socket.subscribe("all");
    co_await sleep(1h);
  });
  WebSocketCallbacks callbacks;
  callbacks.open = [](WebSocket& socket, Request&) { socket.subscribe("all"); };
  // Runs while the other sockets of the connection are ending.
  callbacks.close = [this](WebSocket& socket, const CloseReason& reason) {
    ends_.push_back(reason.code);
    EXPECT_FALSE(socket.is_open());
    socket.publish("all", "I am gone");
  };
  router_.websocket("/called", std::move(callbacks));
  for (const bool is_fin : {false, true}) {
    ends_.clear();
    Client client = greeted();
    say(client, connect_to(1, "/ws/a") + connect_to(3, "/called") + connect_to(5, "/stuck") +
                    connect_to(7, "/called"));
    EXPECT_EQ(alive_, 2);
    if (is_fin) {
      client.end();
    } else {
      client.reset();
    }
    worker().turn_until([this] { return ends_.size() >= 3; });
    EXPECT_EQ(ends_, Codes(3, CloseCode::Abnormal));
    worker().advance(6s);  // for /stuck, which does not read
    worker().advance(3s);
    EXPECT_EQ(alive_, 0);
    EXPECT_EQ(worker().counters().connections_open, 0U);
  }
  EXPECT_EQ(worker().counters().handlers_cancelled, 2U);
}

TEST_P(Http2WebSocketEnds, FramesThatBreakTheRulesEndTheirStreamOnly) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a") + connect_to(3, "/ws/b"));
  client.send(frames::data(1, "\x81\x01x"));  // not masked
  const std::string bytes = received(client);
  EXPECT_EQ(data_of(bytes, 1).substr(0, 1), "\x88");
  EXPECT_EQ(data_of(bytes, 1).substr(2, 2), "\x03\xea");  // 1002
  EXPECT_EQ(frames::describe(bytes), "DATA(1)!");
  EXPECT_EQ(exchange(client, 3, client_frame(Opcode::Text, "y")),
            "\x81\x03"
            "b:y");
  // RFC 9113 §8.5: a tunnel has no trailers.
  EXPECT_EQ(say(client, frames::headers(3, frames::field("a", "b"))),
            "RST_STREAM(3,PROTOCOL_ERROR)");
  EXPECT_EQ(ends_, (Codes{CloseCode::ProtocolError, CloseCode::Abnormal}));
}

TEST_P(Http2WebSocketEnds, ASilentPeerIsPingedOnEachStreamAndThenGivenUp) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a") + connect_to(3, "/ws/b"));
  worker().advance(31s);
  std::string bytes = received(client);
  EXPECT_EQ(data_of(bytes, 1), std::string("\x89\0", 2));
  EXPECT_EQ(data_of(bytes, 3), std::string("\x89\0", 2));
  EXPECT_EQ(exchange(client, 3, client_frame(Opcode::Pong, "")), "");
  worker().advance(30s);
  bytes = received(client);
  EXPECT_EQ(data_of(bytes, 1).substr(0, 1), "\x88");
  EXPECT_EQ(data_of(bytes, 1).substr(2, 2), "\x03\xe9");  // 1001
  EXPECT_EQ(ends_, Codes{CloseCode::GoingAway});
  EXPECT_EQ(alive_, 1);
}

TEST_P(Http2WebSocketEnds, ADrainingServerSaysGoodBye) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  (*worker()).begin_drain();
  const std::string bytes = received(client);
  EXPECT_EQ(data_of(bytes, 1).substr(0, 4), "\x88\x1a\x03\xe9");
  // A socket whose request was in flight is opened, then closed the same way.
  client.send(connect_to(3, "/ws/b"));
  EXPECT_EQ(data_of(received(client), 3).substr(0, 4), "\x88\x1a\x03\xe9");
  EXPECT_EQ(say(client, close(1, frames::end) + close(3, frames::end)), "DATA(1)! DATA(3)!");
  worker().advance(60ms);
  EXPECT_EQ(heard(client), "GOAWAY(3,NO_ERROR)");
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(alive_, 0);
}

TEST_P(Http2WebSocketEnds, ASenderOutlivesItsSocket) {
  std::vector<WebSocketSender> senders;
  router_.websocket("/sender", [&](WebSocket& socket) -> Task<> {
    senders.push_back(socket.sender());
    while (co_await socket.receive()) continue;
  });
  Client client = greeted();
  say(client, connect_to(1, "/sender"));
  ASSERT_EQ(senders.size(), 1U);
  senders[0].send("hi");
  EXPECT_EQ(data_of(received(client), 1), "\x81\x02hi");
  senders[0].send("into the void");  // posted, but then the socket is gone
  say(client, frames::reset(1));
  EXPECT_FALSE(senders[0].is_open());
  senders[0].send("nobody");
  EXPECT_EQ(say(client, frames::get(3)), "HEADERS(3) DATA(3)!");
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2WebSocketEnds, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
