// SPDX-License-Identifier: MIT
// WebSockets that fail to open, or end badly: each problem's text names the server, the step and
// the cause.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "client_websocket_fixture.hpp"
#include "support/closed_port.hpp"
#include "support/scripted_server.hpp"
#include "ws/frame.hpp"
#include "ws/handshake_key.hpp"

namespace skua {
namespace {

using testing::ScriptedServer;
using ws::Opcode;

class ClientWebSocketProblems : public testing::ClientWebSocket {
 protected:
  Problem problem_of(const std::string& to) {
    Problem problem;
    run([&](Client& client) -> Task<> {
      auto socket = co_await client.websocket(to);
      EXPECT_FALSE(socket);
      if (!socket) problem = socket.error();
    });
    return problem;
  }
};

TEST_P(ClientWebSocketProblems, ARefusalIsToldInTheServersWords) {
  router_.get("/page", [] { return "no socket"; });
  WebSocketOptions options;
  router_.websocket("/here", [](WebSocket&) -> Task<> { co_return; }, options);
  const Problem missing = problem_of(url("/nowhere"));
  EXPECT_EQ(missing.code(), Errc::UpgradeRefused);
  EXPECT_TRUE(missing.text.starts_with("could not open a WebSocket at " + url("/nowhere") +
                                       ": the server answered 404 Not Found"))
      << missing.text;
  EXPECT_NE(problem_of(url("/page")).text.find("the server answered 200 OK"), std::string::npos);

  std::string text;
  run([&](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/here")).header("Origin", "https://evil.example");
    EXPECT_FALSE(socket);
    if (!socket) text = socket.error().text;
  });
  EXPECT_TRUE(
      text.ends_with("the server answered 403 Forbidden: Pages of this origin may not connect."))
      << text;
}

TEST_P(ClientWebSocketProblems, AControlCallbackThatThrowsEndsItsSocketAndNothingElse) {
  router_.websocket("/", [this](WebSocket& socket) -> Task<> {
    socket.ping("a ping");
    while (co_await socket.receive()) continue;
    seen_.set_value(socket.close_reason());
  });
  router_.get("/page", [] { return "still here"; });
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    socket->on_control([](WebSocketControl, std::string_view text) {
      throw std::runtime_error("cannot take " + std::string(text));
    });
    EXPECT_FALSE(co_await socket->receive());
    auto page = co_await client.get(ClientTest::url("/page"));
    EXPECT_TRUE(page);
  });
  EXPECT_EQ(static_cast<unsigned>(reason_seen().code), 1011U);
}

TEST_P(ClientWebSocketProblems, PasswordsAreNotRepeated) {
  std::string to = url("/nowhere");
  to.insert(to.find("//") + 2, "ada:secret@");
  const std::string text = problem_of(to).text;
  EXPECT_EQ(text.find("secret"), text.npos) << text;
}

TEST_P(ClientWebSocketProblems, WhatCannotBeAskedForIsSaid) {
  EXPECT_EQ(problem_of("ftp://127.0.0.1/").text,
            "could not open a WebSocket at 'ftp://127.0.0.1/': it has to begin with ws:// or "
            "wss://");
  EXPECT_EQ(problem_of("ws://a/#b").code(), Errc::MalformedUrl);
  EXPECT_EQ(problem_of("ws://").code(), Errc::MalformedUrl);
  EXPECT_EQ(problem_of("ws:page").code(), Errc::MalformedUrl);
  EXPECT_EQ(problem_of("127.0.0.1:80").code(), Errc::MalformedUrl);
  run([](Client& client) -> Task<> {
    EXPECT_THROW(static_cast<void>(client.websocket("ws://a/").header("Upgrade", "h2c")),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(client.websocket("ws://a/").header("sec-websocket-key", "a")),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(client.websocket("ws://a/").header("A", "b\r\nC: d")),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(client.websocket("ws://a/").subprotocol("a, b")),
                 std::invalid_argument);
    co_return;
  });
}

TEST_P(ClientWebSocketProblems, NobodyThereIsSaid) {
  const testing::ClosedPort closed;
  const std::string whom = "127.0.0.1:" + std::to_string(closed.number());
  const Problem problem = problem_of("ws://" + whom + "/");
  EXPECT_EQ(problem.code(), Errc::Refused);
  EXPECT_TRUE(problem.text.starts_with("could not connect to " + whom)) << problem.text;
}

TEST_P(ClientWebSocketProblems, AServerThatNobodyVouchesForIsNotTrusted) {
  if (!is_secure(wire())) GTEST_SKIP() << "TLS only";
  options_.tls.authorities.clear();
  const Problem problem = problem_of(url("/"));
  EXPECT_EQ(problem.code(), Errc::TlsCertificate);
  options_.tls.insecure = true;
  router_.websocket("/", [](WebSocket&) -> Task<> { co_return; });
}

TEST(ClientWithoutALoop, IsRefused) { EXPECT_THROW(Client(), std::logic_error); }

// A scripted server that misbehaves during or after the handshake; plain TCP only.
class HostileWebSocketServer : public ClientWebSocketProblems {
 protected:
  static std::string url_of(const ScriptedServer& server) {
    return "ws://127.0.0.1:" + std::to_string(server.port()) + "/";
  }
  static std::string read_request(testing::Client& peer) {
    std::string request;
    while (request.find("\r\n\r\n") == request.npos) {
      const std::string more = peer.some();
      if (more.empty()) break;
      request += more;
    }
    return request;
  }
  static std::string accepted(const std::string& request) {
    constexpr std::string_view field = "Sec-WebSocket-Key: ";
    const std::size_t begin = request.find(field) + field.size();
    const std::string key = request.substr(begin, request.find("\r\n", begin) - begin);
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Accept: " +
           ws::accept_key(key) + "\r\n\r\n";
  }
  static std::string frame(Opcode opcode, std::string_view payload, bool is_final = true) {
    return ws::make_frame({.payload_bytes = payload.size(), .opcode = opcode, .is_final = is_final},
                          payload);
  }
  /// The close reason of a socket whose server sends these frames.
  CloseReason end_after(const std::string& frames) {
    const ScriptedServer server([frames](testing::Client& peer) {
      peer.send(accepted(read_request(peer)) + frames);
      while (!peer.some().empty()) continue;  // until the client closes
    });
    CloseReason reason;
    run([&](Client& client) -> Task<> {
      WebSocketOptions options;
      options.close = 50ms;
      auto socket = co_await client.websocket(url_of(server)).options(options);
      EXPECT_TRUE(socket) << socket.error().text;
      if (!socket) co_return;
      while (co_await socket->receive()) continue;
      reason = socket->close_reason();
    });
    return reason;
  }
  /// The reason why a handshake with this response fails.
  std::string refusal_of(const std::string& answer, bool goes_on = false) {
    const ScriptedServer server([=](testing::Client& peer) {
      read_request(peer);
      peer.send(answer);
      if (!goes_on) return;
      while (!peer.some().empty()) continue;
    });
    const std::string begin = "could not open a WebSocket at " + url_of(server) + ": ";
    const std::string text = problem_of(url_of(server)).text;
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(std::min(text.size(), begin.size()));
  }
};

TEST_P(HostileWebSocketServer, DoesNotAnswer) {
  options_.timeouts.head = 100ms;
  EXPECT_EQ(refusal_of("", true), "no answer within 100 ms (ClientTimeouts::head)");
  EXPECT_EQ(refusal_of("HTTP/1.1 101 Switch", true),
            "no answer within 100 ms (ClientTimeouts::head)");
  EXPECT_EQ(refusal_of("HTTP/1.1 100 Continue\r\n\r\n", true),
            "no answer within 100 ms (ClientTimeouts::head)");
}

TEST_P(HostileWebSocketServer, HangsUp) {
  EXPECT_EQ(refusal_of(""), "the server closed the connection without an answer");
  EXPECT_EQ(refusal_of("HTTP/1.1 101 Switch"),
            "the server closed the connection in the middle of its answer");
}

TEST_P(HostileWebSocketServer, DoesNotSpeakHttp) {
  EXPECT_EQ(refusal_of("220 smtp.example ESMTP\r\n"), message(Errc::MalformedStartLine));
  EXPECT_EQ(refusal_of("HTTP/1.1 101 \r\n" + std::string(100'000, 'a'), true),
            message(Errc::FieldTooLong));
}

TEST_P(HostileWebSocketServer, BreaksTheRulesOfFrames) {
  using enum CloseCode;
  const std::string masked = ws::make_frame(
      {.payload_bytes = 1, .opcode = Opcode::Text, .is_masked = true, .key = {1, 2, 3, 4}}, "x");
  EXPECT_EQ(end_after(masked).code, ProtocolError);
  EXPECT_EQ(end_after("\xf1\x01x").code, ProtocolError);
  EXPECT_EQ(end_after("\x83\x01x").code, ProtocolError);
  EXPECT_EQ(end_after(frame(Opcode::Continuation, "x")).code, ProtocolError);
  EXPECT_EQ(end_after(frame(Opcode::Text, "\xc3\x28")).code, InvalidData);
  EXPECT_EQ(
      end_after(frame(Opcode::Text, "\xc3", false) + frame(Opcode::Continuation, "\x28")).code,
      InvalidData);
  EXPECT_EQ(end_after(frame(Opcode::Close, std::string("\x03\xed", 2))).code, ProtocolError);
  EXPECT_EQ(end_after("\x82\x7f" + std::string("\x7f\xff\xff\xff\xff\xff\xff\xff", 8)).code,
            MessageTooBig);
  EXPECT_EQ(end_after("\x82\x7f" + std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)).code,
            ProtocolError);
}

TEST_P(HostileWebSocketServer, FloodsWithPingsAndFragments) {
  std::string flood;
  for (int i = 0; i < 20'000; ++i) {
    flood +=
        frame(Opcode::Ping, "p") + frame(i == 0 ? Opcode::Text : Opcode::Continuation, "", false);
  }
  flood += frame(Opcode::Close, std::string("\x03\xe8", 2));
  EXPECT_EQ(end_after(flood).code, CloseCode::Normal);
}

TEST_P(HostileWebSocketServer, DoesNotAnswerAClose) {
  const ScriptedServer server([](testing::Client& peer) {
    peer.send(accepted(read_request(peer)));
    while (!peer.some().empty()) continue;
  });
  run([&](Client& client) -> Task<> {
    WebSocketOptions options;
    options.close = 50ms;
    auto socket = co_await client.websocket(url_of(server)).options(options);
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    socket->close();
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(socket->close_reason().code, CloseCode::Abnormal);
    EXPECT_EQ(socket->close_reason().text, "the peer did not answer the close");
  });
}

TEST_P(HostileWebSocketServer, FallsSilent) {
  const ScriptedServer server([](testing::Client& peer) {
    peer.send(accepted(read_request(peer)));
    while (!peer.some().empty()) continue;
  });
  run([&](Client& client) -> Task<> {
    WebSocketOptions options;
    options.ping = 20ms;
    options.idle = 60ms;
    options.close = 20ms;
    auto socket = co_await client.websocket(url_of(server)).options(options);
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(socket->close_reason().code, CloseCode::GoingAway);
    EXPECT_EQ(socket->close_reason().text, "idle timeout");
  });
}

TEST_P(HostileWebSocketServer, HangsUpInTheMiddle) {
  const ScriptedServer server([](testing::Client& peer) {
    peer.send(accepted(read_request(peer)) + frame(Opcode::Text, "whole") +
              "\x81\x05"
              "cut");
  });
  run([&](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url_of(server));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    auto whole = co_await socket->receive();
    EXPECT_TRUE(whole && whole->text == "whole");
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(socket->close_reason().code, CloseCode::Abnormal);
  });
}

TEST_P(HostileWebSocketServer, ReadsNothing) {
  std::promise<void> done;
  const ScriptedServer server([waiting = done.get_future().share()](testing::Client& peer) {
    peer.send(accepted(read_request(peer)));
    waiting.wait();
  });
  run([&](Client& client) -> Task<> {
    WebSocketOptions options;
    options.idle = 100ms;
    options.close = 20ms;
    auto socket = co_await client.websocket(url_of(server)).options(options);
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    const std::string large(1_MiB, 'x');
    int sent = 0;
    while (co_await socket->send(large)) ++sent;
    EXPECT_LT(sent, 64);  // no more than the system's buffers take
    EXPECT_FALSE(socket->is_open());
  });
  done.set_value();
}

INSTANTIATE_TEST_SUITE_P(, ClientWebSocketProblems, testing::client_test_values(),
                         testing::client_test_name);
INSTANTIATE_TEST_SUITE_P(, HostileWebSocketServer,
                         ::testing::Combine(::testing::ValuesIn(testing::backends()),
                                            ::testing::Values(testing::Transport::Tcp)),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
