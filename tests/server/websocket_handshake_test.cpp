// SPDX-License-Identifier: MIT
// Which requests open a WebSocket, and how others are refused. RFC 6455 §4.2
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "skua.hpp"
#include "support/test_worker.hpp"
#include "support/websocket_client.hpp"
#include "ws/deflate.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::handshake;
using testing::TestWorker;
using testing::WebSocketClient;

constexpr std::string_view plain_head = "GET / HTTP/1.1\r\nHost: a\r\n";

class WebSocketHandshake : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::speaks_http2()) GTEST_SKIP() << "the handshake of HTTP/1";
  }
  // Returns the head of the response.
  std::string head_of(std::string_view request) {
    if (worker_ == nullptr) {
      router_.websocket(
          "/", [](WebSocket& socket) -> Task<> { co_await socket.receive(); }, options_);
      worker_ = std::make_unique<TestWorker>(router_, BackendChoice::Poll);
    }
    WebSocketClient client(worker_->connect(), [this] { (**worker_).run_once(1ms); });
    return client.open(request);
  }
  std::string status_of(std::string_view request) { return head_of(request).substr(9, 3); }

  Router router_;
  WebSocketOptions options_;
  std::unique_ptr<TestWorker> worker_;
};

std::string without(std::string text, std::string_view part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return text.erase(at, part.size());
}

TEST_F(WebSocketHandshake, WhatIsNoHandshakeIsToldToUpgrade) {
  const std::string good = handshake("/");
  for (const std::string& request :
       {std::string(plain_head) + "\r\n", without(good, "Upgrade: websocket\r\n"),
        without(good, "keep-alive, Upgrade"), "HEAD" + good.substr(3),
        without(good, "websocket") + ""}) {
    const std::string head = head_of(request);
    EXPECT_EQ(head.substr(9, 20), "426 Upgrade Required") << request;
    EXPECT_NE(head.find("\r\nUpgrade: websocket\r\n"), head.npos);
    EXPECT_NE(head.find("\r\nConnection: Upgrade\r\n"), head.npos);
    EXPECT_NE(head.find("\r\nSec-WebSocket-Version: 13\r\n"), head.npos);
  }
  EXPECT_EQ(status_of("POST" + good.substr(3)), "405");
}

TEST_F(WebSocketHandshake, MalformedOnesAreRefused) {
  const std::string good = handshake("/");
  const std::string version = "Sec-WebSocket-Version: 13\r\n";
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  EXPECT_EQ(status_of(without(good, version)), "400");
  EXPECT_EQ(status_of(handshake("/", version)), "400");
  EXPECT_EQ(status_of(without(good, key)), "400");
  EXPECT_EQ(status_of(handshake("/", key)), "400");
  EXPECT_EQ(status_of(without(good, "dGhlI")), "400");
  std::string other_version = good;
  other_version.replace(other_version.find(": 13"), 4, ": 12");
  EXPECT_EQ(status_of(other_version), "426");
  std::string old = good;
  old.replace(old.find("HTTP/1.1"), 8, "HTTP/1.0");
  EXPECT_EQ(status_of(old), "426");
  EXPECT_EQ(status_of(good), "101");
}

TEST_F(WebSocketHandshake, PagesOfOtherOriginsAreRefused) {
  options_.origins = {"https://partner.example", "null"};
  const bool is_secure = testing::is_secure(testing::transport());
  const std::string own = is_secure ? "https://a" : "http://a";
  const std::string other_scheme = is_secure ? "http://a" : "https://a";
  const std::pair<std::string, const char*> cases[] = {
      {own, "101"},
      {own + (is_secure ? ":443" : ":80"), "101"},
      {own + ":8080", "403"},
      {other_scheme, "403"},
      {own + ".evil.example", "403"},
      {"https://partner.example", "101"},
      {"https://partner.example.evil.example", "403"},
      {"null", "101"},
      {"", "403"},
      {"evil", "403"},
  };
  for (const auto& [origin, status] : cases) {
    EXPECT_EQ(status_of(handshake("/", "Origin: " + origin + "\r\n")), status) << origin;
  }
}

TEST_F(WebSocketHandshake, AnybodyMayConnectWhereThatIsSaid) {
  options_.origins = {"*"};
  EXPECT_EQ(status_of(handshake("/", "Origin: https://evil.example\r\n")), "101");
}

TEST_F(WebSocketHandshake, OurFirstSubprotocolThatIsOfferedIsChosen) {
  options_.subprotocols = {"best", "good"};
  const auto protocol_of = [this](std::string_view offers) {
    const std::string head = head_of(handshake("/", offers));
    const std::size_t at = head.find("\r\nSec-WebSocket-Protocol: ");
    return at == head.npos ? "" : head.substr(at + 26, head.find("\r\n", at + 2) - at - 26);
  };
  EXPECT_EQ(protocol_of(""), "");
  EXPECT_EQ(protocol_of("Sec-WebSocket-Protocol: other, Best\r\n"), "");
  EXPECT_EQ(protocol_of("Sec-WebSocket-Protocol: good, best\r\n"), "best");
  EXPECT_EQ(protocol_of("Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: good\r\n"), "good");
}

TEST_F(WebSocketHandshake, CompressionIsAgreedOnWhereItIsWanted) {
  const std::string offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  EXPECT_EQ(head_of(handshake("/", offer)).find("Sec-WebSocket-Extensions"), std::string::npos);
  worker_.reset();
  router_ = Router();
  options_.compression = WebSocketCompression::PerMessage;
  EXPECT_EQ(status_of(handshake("/", "Sec-WebSocket-Extensions: ;;=\r\n")), "400");
  const std::string head = head_of(handshake("/", offer));
  EXPECT_EQ(head.substr(9, 3), "101");
  EXPECT_EQ(head.find("permessage-deflate") != head.npos, ws::is_deflate_available());
}

// The peer's compression context would lack the dropped messages.
TEST_F(WebSocketHandshake, ThereIsNoContextWhereMessagesMayBeDropped) {
  if (!ws::is_deflate_available()) GTEST_SKIP() << "built without zlib";
  options_.compression = WebSocketCompression::Context;
  options_.slow_peer = SlowPeer::DropOldest;
  const std::string offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  const std::string head = head_of(handshake("/", offer));
  EXPECT_NE(head.find("server_no_context_takeover"), head.npos);
  EXPECT_EQ(head.find("client_no_context_takeover"), head.npos);
}

TEST_F(WebSocketHandshake, GuardsComeFirst) {
  router_.use([](Request& request) -> std::optional<Response> {
    if (!request.header("Authorization")) return Response(Status::Unauthorized);
    request.attachments().set(std::string("ada"));
    return std::nullopt;
  });
  router_.websocket("/who", [](WebSocket& socket) -> Task<> {
    const std::string& who = *socket.attachments().find<std::string>();
    co_await socket.send(who);
  });
  EXPECT_EQ(status_of(handshake("/who")), "401");
  WebSocketClient client(worker_->connect(), [this] { (**worker_).run_once(1ms); });
  client.open(handshake("/who", "Authorization: x\r\n"));
  EXPECT_EQ(client.text(), "ada");
}

TEST_F(WebSocketHandshake, CoroutinesMayBeAroundIt) {
  router_.use([](Request& request, Next next) -> Task<Response> {
    co_await yield();
    Response response = co_await next(request);
    response.header("X-Around", "yes");
    co_return response;
  });
  const std::string head = head_of(handshake("/"));
  EXPECT_EQ(head.substr(9, 3), "101");
  EXPECT_NE(head.find("X-Around: yes"), head.npos);
}

}  // namespace
}  // namespace skua
