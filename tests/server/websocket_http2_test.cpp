// SPDX-License-Identifier: MIT
// WebSockets on streams of HTTP/2: extended CONNECT, DATA frames both ways, and their ends. RFC
// 8441
#include <gtest/gtest.h>

#include <string>

#include "server/http2_worker.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

namespace frames = h2::frames;
using testing::Client;
using testing::client_frame;
using ws::Opcode;

class WebSocketHttp2 : public testing::Http2Worker {
 protected:
  WebSocketHttp2() {
    router_.websocket("/ws/{name}", [this](WebSocket& socket, std::string name) -> Task<> {
      const Held held(alive_);
      while (auto message = co_await socket.receive()) {
        const std::string text = name + ":" + std::string(message->text);
        co_await socket.send(text);
      }
      last_ = socket.close_reason().code;
    });
  }
  static std::string connect_to(std::uint32_t id, std::string_view path,
                                const frames::Fields& more = {}) {
    frames::Fields fields{{":protocol", "websocket"}};
    fields.insert(fields.end(), {{"sec-websocket-version", "13"}});
    fields.insert(fields.end(), more.begin(), more.end());
    return frames::headers(id, frames::request_block("CONNECT", path, fields), frames::open);
  }
  // What the server's DATA frames of a stream hold.
  static std::string data_of(std::string_view bytes, std::uint32_t id) {
    std::string data;
    for (const frames::Frame& frame : frames::split(bytes)) {
      if (frame.head.type == h2::FrameType::Data && frame.head.stream_id == id) {
        data += frame.payload;
      }
    }
    return data;
  }
  std::string exchange(Client& client, std::uint32_t id, std::string_view bytes) {
    client.send(frames::data(id, bytes));
    return data_of(received(client), id);
  }

  CloseCode last_ = CloseCode::NoStatus;
};

TEST_P(WebSocketHttp2, TheServerSaysThatItCan) {
  Client client = connect();
  client.send(frames::hello());
  const auto told = frames::split(received(client));
  ASSERT_FALSE(told.empty());
  ASSERT_EQ(told[0].head.type, h2::FrameType::Settings);
  // SETTINGS_ENABLE_CONNECT_PROTOCOL (8) = 1
  EXPECT_NE(told[0].payload.find(std::string("\0\x08\0\0\0\x01", 6)), std::string::npos);
}

TEST_P(WebSocketHttp2, MessagesGoBothWaysOnManyStreams) {
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

TEST_P(WebSocketHttp2, ACloseEndsTheStream) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  const std::string close = client_frame(Opcode::Close, std::string("\x0f\xa1", 2));
  EXPECT_EQ(say(client, frames::data(1, close, frames::end)), "DATA(1) DATA(1)!");
  EXPECT_EQ(static_cast<int>(last_), 4001);
  EXPECT_EQ(alive_, 0);
}

TEST_P(WebSocketHttp2, AnEndWithoutACloseIsOne) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a") + connect_to(3, "/ws/a"));
  EXPECT_EQ(say(client, frames::data(1, "", frames::end)), "DATA(1)!");
  EXPECT_EQ(last_, CloseCode::Abnormal);
  last_ = CloseCode::NoStatus;
  EXPECT_EQ(say(client, frames::reset(3)), "");
  EXPECT_EQ(last_, CloseCode::Abnormal);
  EXPECT_EQ(alive_, 0);
}

TEST_P(WebSocketHttp2, WhatIsNoHandshakeIsRefused) {
  Client client = greeted();
  // Another protocol, no version, another origin, no route, an ordinary GET.
  const auto status_of = [&](std::uint32_t id, std::string_view request) {
    client.send(request);
    for (const frames::Frame& frame : frames::split(received(client))) {
      if (frame.head.type == h2::FrameType::Headers && frame.head.stream_id == id) {
        return static_cast<int>(static_cast<unsigned char>(frame.payload[0]));
      }
    }
    return 0;
  };
  const int not_found = status_of(1, connect_to(1, "/nowhere"));
  EXPECT_EQ(not_found, 0x80 | 13);  // of the static table: `:status: 404`
  EXPECT_NE(status_of(3, frames::get(3, "/ws/a")), 0x80 | 8);
  EXPECT_NE(status_of(5, connect_to(5, "/ws/a", {{"origin", "http://evil.example"}})), 0x80 | 8);
  EXPECT_EQ(status_of(7, connect_to(7, "/ws/a", {{"origin", "http://h.example"}})), 0x80 | 8);
  EXPECT_EQ(alive_, 1);
}

TEST_P(WebSocketHttp2, AMessageLongerThanTheWindowComesThrough) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  std::string text(300'000, 't');
  std::string frame = client_frame(Opcode::Text, text);
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

TEST_P(WebSocketHttp2, AHandlerIsAroundItToo) {
  router_.use([](Request& request, Next next) -> Task<Response> {
    co_await yield();
    Response response = co_await next(request);
    co_return response;
  });
  Client client = greeted();
  EXPECT_EQ(say(client, connect_to(1, "/ws/a")), "HEADERS(1)");
  EXPECT_EQ(exchange(client, 1, client_frame(Opcode::Text, "x")),
            "\x81\x03"
            "a:x");
}

TEST_P(WebSocketHttp2, ADrainingServerSaysGoodBye) {
  Client client = greeted();
  say(client, connect_to(1, "/ws/a"));
  (*worker()).begin_drain();
  const std::string bytes = received(client);
  EXPECT_EQ(data_of(bytes, 1).substr(0, 4), "\x88\x1b\x03\xe9");
}

INSTANTIATE_TEST_SUITE_P(Backends, WebSocketHttp2, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
