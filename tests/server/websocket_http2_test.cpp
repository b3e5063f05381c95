// SPDX-License-Identifier: MIT
// WebSockets on HTTP/2 streams: which requests open one, messages both ways, and windows. RFC 8441.
// The other WebSocket tests run over HTTP/2 with SKUA_TEST_TRANSPORT=h2.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/http2_sockets.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;
using testing::client_frame;
using testing::handshake;
using testing::WebSocketClient;
using ws::Opcode;

class Http2WebSockets : public testing::Http2Sockets {};

TEST_P(Http2WebSockets, TheServerSaysThatItCan) {
  Client client = connect();
  client.send(frames::hello());
  const auto told = frames::split(received(client));
  ASSERT_FALSE(told.empty());
  ASSERT_EQ(told[0].head.type, h2::FrameType::Settings);
  // SETTINGS_ENABLE_CONNECT_PROTOCOL (8) = 1
  EXPECT_NE(told[0].payload.find(std::string("\0\x08\0\0\0\x01", 6)), std::string::npos);
}

TEST_P(Http2WebSockets, MessagesGoBothWaysOnManyStreams) {
  Client client = greeted();
  EXPECT_EQ(say(client, connect_to(1, "/ws/a") + connect_to(3, "/ws/b")), "HEADERS(1) HEADERS(3)");
  EXPECT_EQ(alive_, 2);
  EXPECT_EQ(exchange(client, 1, client_frame(Opcode::Text, "x")),
            "\x81\x03"
            "a:x");
  EXPECT_EQ(exchange(client, 3, client_frame(Opcode::Text, "y")),
            "\x81\x03"
            "b:y");
  EXPECT_EQ(exchange(client, 1, client_frame(Opcode::Ping, "p")), "\x8a\x01p");
  const std::string frame = client_frame(Opcode::Text, "split");
  EXPECT_EQ(exchange(client, 1, frame.substr(0, 3)), "");
  EXPECT_EQ(exchange(client, 1, frame.substr(3)),
            "\x81\x07"
            "a:split");
  EXPECT_EQ(say(client, frames::get(5)), "HEADERS(5) DATA(5)!");
}

TEST_P(Http2WebSockets, CallbacksHearAndPublishAcrossStreamsAndVersions) {
  WebSocketCallbacks callbacks;
  callbacks.open = [this](WebSocket& socket, Request& request) {
    log_.push_back("open " + std::string(request.query("name").value_or("-")));
    socket.subscribe("room");
    socket.send("welcome");
  };
  callbacks.message = [](WebSocket& socket, Message message) {
    socket.publish("room", message.text, message.type);
  };
  callbacks.close = [this](WebSocket&, const CloseReason& reason) {
    log_.push_back("close " + std::to_string(static_cast<int>(reason.code)));
  };
  router_.websocket("/room", std::move(callbacks));
  WebSocketClient old(connect(), [this] { (*worker()).run_once(1ms); });
  EXPECT_EQ(old.open(handshake("/room?name=old")).substr(9, 3), "101");
  EXPECT_EQ(old.text(), "welcome");
  Client client = greeted();
  EXPECT_EQ(say(client, connect_to(1, "/room?name=one") + connect_to(3, "/room?name=two")),
            "HEADERS(1) HEADERS(3) DATA(1) DATA(3)");
  client.send(message(3, "hi"));
  const std::string heard = received(client);
  EXPECT_EQ(data_of(heard, 1), "\x81\x02hi");
  EXPECT_EQ(data_of(heard, 3), "\x81\x02hi");
  EXPECT_EQ(old.text(), "hi");
  say(client, close(1, frames::end));
  EXPECT_EQ(log_, (std::vector<std::string>{"open old", "open one", "open two", "close 1000"}));
  old.send("still there?");
  EXPECT_EQ(old.text(), "still there?");
  EXPECT_EQ(data_of(received(client), 3), "\x81\x0cstill there?");
}

TEST_P(Http2WebSockets, MessagesAreCompressedWhereThatWasAgreedOn) {
  if (!ws::is_deflate_available()) GTEST_SKIP() << "built without zlib";
  router_.websocket("/coded",
                    [](WebSocket& socket) -> Task<> {
                      while (auto message = co_await socket.receive())
                        co_await socket.send(message->text);
                    },
                    {.compression = WebSocketCompression::Context});
  WebSocketClient client = translated();
  const std::string head =
      client.open(handshake("/coded", "Sec-WebSocket-Extensions: permessage-deflate\r\n"));
  EXPECT_NE(head.find("sec-websocket-extensions: permessage-deflate"), head.npos) << head;
  ws::Inflater inflater(15, true);
  client.use(inflater);
  const std::string text(100'000, 'a');
  for (int i = 0; i < 3; ++i) {
    client.send(text);
    EXPECT_EQ(client.text(), text);
  }
  EXPECT_LT(client.received_bytes(), 2000U);
}

TEST_P(Http2WebSockets, WhatIsNoHandshakeIsRefused) {
  router_.any("/any", [] { return "hello"; });
  const auto status_of = [this](std::string_view request) {
    WebSocketClient client = translated();
    return client.open(request).substr(9, 3);
  };
  const auto with = [](std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string good = handshake("/ws/a");
  EXPECT_EQ(status_of(good), "200");
  EXPECT_EQ(status_of(with(good, "Upgrade: websocket", "Upgrade: WebSocket")), "200");
  EXPECT_EQ(status_of(handshake("/ws/a", "Origin: http://a\r\n")), "200");
  // RFC 9220 §3
  EXPECT_EQ(status_of(with(good, "Upgrade: websocket", "Upgrade: connect-udp")), "501");
  EXPECT_EQ(status_of(with(good, "Version: 13", "Version: 12")), "400");
  EXPECT_EQ(status_of(with(good, "Sec-WebSocket-Version: 13\r\n", "")), "400");
  EXPECT_EQ(status_of(handshake("/ws/a", "Origin: http://evil.example\r\n")), "403");
  EXPECT_EQ(status_of("GET /ws/a HTTP/1.1\r\nHost: a\r\n\r\n"), "400") << "an ordinary GET";
  EXPECT_EQ(status_of("POST /ws/a HTTP/1.1\r\nHost: a\r\n\r\n"), "405");
  EXPECT_EQ(status_of(handshake("/nowhere")), "404");
  // Routes that are not WebSockets: a 2xx would open a tunnel that leads nowhere.
  EXPECT_EQ(status_of(handshake("/")), "405");
  EXPECT_EQ(status_of(handshake("/any")), "501");
}

TEST_P(Http2WebSockets, ARefusedOneHoldsNoStream) {
  Client client = greeted();
  EXPECT_EQ(say(client, connect_to(1, "/nowhere")), "HEADERS(1) DATA(1)! RST_STREAM(1,NO_ERROR)");
  EXPECT_EQ(say(client,
                frames::headers(
                    3, frames::field(":method", "CONNECT") + frames::field(":authority", "a.b:443"),
                    frames::open)),
            "HEADERS(3) DATA(3)! RST_STREAM(3,NO_ERROR)");
  worker().advance(76s);
  EXPECT_EQ(heard(client), "GOAWAY(3,NO_ERROR)") << "the connection is idle";
}

TEST_P(Http2WebSockets, CoroutinesMayBeAroundItAndClientsNeedNotWait) {
  Event go_on;
  router_.use([&](Request& request, Next next) -> Task<Response> {
    EXPECT_EQ(request.method(), Method::Connect);
    const std::string content = co_await request.text();
    EXPECT_EQ(content, "") << "the bytes of the tunnel are not content";
    co_await go_on.wait();
    Response response = co_await next(request);
    co_return response;
  });
  Client client = greeted();
  EXPECT_EQ(say(client, connect_to(1, "/ws/a") + message(1, "early")), "");
  EXPECT_EQ(say(client, connect_to(3, "/ws/b", {}, true)), "");
  worker().advance(31s);
  EXPECT_EQ(heard(client), "") << "the server is not waiting for the peer";
  go_on.set();
  const std::string bytes = received(client);
  EXPECT_EQ(frames::describe(bytes), "HEADERS(1) HEADERS(3) DATA(1) DATA(3)!");
  EXPECT_EQ(data_of(bytes, 1),
            "\x81\x07"
            "a:early");
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(ends_, (std::vector{CloseCode::Abnormal}));
}

// Windows -----------------------------------------------------------------------------------------

TEST_P(Http2WebSockets, AMessageLongerThanTheWindowComesThrough) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  const std::string frame = client_frame(Opcode::Text, std::string(300'000, 't'));
  std::string back;
  for (std::size_t at = 0; at < frame.size(); at += 16'000) {
    client.send(frames::data(1, std::string_view(frame).substr(at, 16'000)));
    back += data_of(received(client), 1);
  }
  for (int i = 0; i < 40 && back.size() < 300'012; ++i) {
    client.send(frames::window_update(0, 16'000) + frames::window_update(1, 16'000));
    back += data_of(received(client), 1);
  }
  EXPECT_EQ(back.size(), 300'012U);
}

TEST_P(Http2WebSockets, AHandlerThatIsBusyShutsItsWindowAndNoOther) {
  Event go_on;
  std::size_t seen_bytes = 0;
  router_.websocket("/busy", [&](WebSocket& socket) -> Task<> {
    while (auto message = co_await socket.receive()) {
      co_await go_on.wait();
      seen_bytes += message->text.size();
    }
  });
  Client client = greeted();
  say(client, connect_to(1, "/busy") + connect_to(3, "/ws/a"));
  std::string told;
  for (int i = 0; i < 4; ++i) told += say(client, message(1, std::string(16'000, 'b')));
  EXPECT_EQ(told.find("WINDOW_UPDATE(1)"), told.npos) << told;
  EXPECT_EQ(exchange(client, 3, client_frame(Opcode::Text, "x")),
            "\x81\x03"
            "a:x");
  EXPECT_EQ(seen_bytes, 0U);
  go_on.set();
  EXPECT_EQ(heard(client), "WINDOW_UPDATE(1)");
  EXPECT_EQ(seen_bytes, 64'000U);
}

TEST_P(Http2WebSockets, APeerThatTakesNothingMakesItsSenderWaitAndIsGivenUp) {
  int sent = 0;
  router_.websocket("/much",
                    [&](WebSocket& socket) -> Task<> {
                      const Held held(alive_);
                      const std::string piece(10'000, 'm');
                      while (co_await socket.send(piece)) ++sent;
                    },
                    {.queue_bytes = 100'000});
  Client client = connect();
  say(client, frames::hello({{4, 20'000}}));  // SETTINGS_INITIAL_WINDOW_SIZE
  say(client, connect_to(1, "/much") + connect_to(3, "/ws/a"));
  EXPECT_GE(sent, 7);
  EXPECT_LE(sent, 13);
  worker().advance(29s);
  client.send(frames::window_update(1, 15'000));
  EXPECT_EQ(data_of(received(client), 1).size(), 15'000U);
  EXPECT_EQ(exchange(client, 3, client_frame(Opcode::Text, "x")),
            "\x81\x03"
            "a:x");
  worker().advance(29s);
  EXPECT_EQ(alive_, 2) << "the peer has read something";
  worker().advance(2s);
  EXPECT_EQ(heard(client), "RST_STREAM(1,CANCEL) DATA(3)") << "DATA(3) is a ping";
  EXPECT_EQ(alive_, 1);
  EXPECT_EQ(worker().counters().refused_slow, 1U);
  EXPECT_EQ(worker().counters().handlers_cancelled, 1U);
}

INSTANTIATE_TEST_SUITE_P(Backends, Http2WebSockets, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
