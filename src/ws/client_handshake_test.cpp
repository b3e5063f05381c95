// SPDX-License-Identifier: MIT
#include "ws/client_handshake.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "ws/deflate.hpp"

namespace skua::ws {
namespace {

using Step = ClientHandshake::Step;

// RFC 6455 §1.2, §1.3
constexpr std::string_view key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
constexpr std::string_view switching =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";

ClientHandshake handshake(const WebSocketOptions& options, const FieldLines& fields = {},
                          std::string_view url = "ws://example.com/chat?a=b") {
  return {*Url::parse(url), fields, options, key};
}

struct Answered {
  Step step = Step::NeedMore;
  std::string rest{};
  Agreement agreement{};
  Problem problem{};
};

Answered give(const WebSocketOptions& options, std::string_view first, std::string_view second) {
  ClientHandshake asked = handshake(options);
  Answered answered;
  answered.rest = first;
  answered.step = asked.read(answered.rest);
  if (answered.step == Step::NeedMore) {
    answered.rest += second;
    answered.step = asked.read(answered.rest);
  } else {
    answered.rest += second;
  }
  answered.agreement = asked.take_agreement();
  answered.problem = asked.problem();
  return answered;
}

// Reads a response whole and split in two at every position, and expects the same result.
Answered answer(std::string_view response, const WebSocketOptions& options = {}) {
  Answered whole = give(options, response, {});
  for (std::size_t at = 0; at < response.size(); ++at) {
    const Answered split = give(options, response.substr(0, at), response.substr(at));
    EXPECT_EQ(split.step, whole.step) << at;
    if (whole.step == Step::Open) {
      EXPECT_EQ(split.rest, whole.rest) << at;
    }
    EXPECT_EQ(split.agreement.subprotocol, whole.agreement.subprotocol) << at;
    EXPECT_EQ(split.problem.code(), whole.problem.code()) << at;
  }
  return whole;
}

std::string refusal(const std::string& response, const WebSocketOptions& options = {}) {
  const Answered answered = answer(response, options);
  EXPECT_EQ(answered.step, Step::Refused);
  return answered.problem.text;
}

std::string text(std::initializer_list<std::string_view> pieces) {
  std::string all;
  for (const std::string_view piece : pieces) all += piece;
  return all;
}

TEST(ClientHandshake, AsksAsTheRfcDoes) {
  EXPECT_EQ(handshake({}).request(),
            "GET /chat?a=b HTTP/1.1\r\nHost: example.com\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n");
}

TEST(ClientHandshake, AsksForWhatIsWanted) {
  WebSocketOptions options;
  options.subprotocols = {"chat.v2", "chat.v1"};
  options.compression = WebSocketCompression::PerMessage;
  FieldLines fields;
  fields.add("Origin", "https://example.com");
  fields.add("Host", "other.example");
  const ClientHandshake asked = handshake(options, fields, "wss://example.com:444");
  const std::string& request = asked.request();
  EXPECT_TRUE(request.starts_with("GET / HTTP/1.1\r\nUpgrade:")) << request;
  EXPECT_NE(request.find("Sec-WebSocket-Protocol: chat.v2, chat.v1\r\n"), request.npos);
  EXPECT_EQ(request.find("Sec-WebSocket-Extensions: permessage-deflate; ") != request.npos,
            is_deflate_available());
  EXPECT_TRUE(request.ends_with("Origin: https://example.com\r\nHost: other.example\r\n\r\n"));
}

TEST(ClientHandshake, OpensWithWhatWasAgreedOn) {
  const Answered plain = answer(text({switching, accept, "\r\n", "\x81\x01x"}));
  EXPECT_EQ(plain.step, Step::Open);
  EXPECT_EQ(plain.rest, "\x81\x01x");
  EXPECT_FALSE(plain.agreement.deflate);

  if (!is_deflate_available()) GTEST_SKIP() << "built without zlib";
  WebSocketOptions options;
  options.subprotocols = {"chat.v2", "chat.v1"};
  options.compression = WebSocketCompression::Context;
  const Answered rich = answer(text({switching, accept, "sec-websocket-protocol: chat.v1\r\n",
                                     "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"}),
                               options);
  EXPECT_EQ(rich.step, Step::Open);
  EXPECT_EQ(rich.agreement.subprotocol, "chat.v1");
  EXPECT_TRUE(rich.agreement.deflate);
}

TEST(ClientHandshake, NamesAreComparedWhateverTheirCase) {
  const Answered answered =
      answer(text({"HTTP/1.1 101 \r\nupgrade: WebSocket\r\nconnection: keep-alive, UPGRADE\r\n",
                   accept, "\r\n"}));
  EXPECT_EQ(answered.step, Step::Open);
}

TEST(ClientHandshake, InterimResponsesArePassedOver) {
  const Answered answered = answer(
      text({"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
            switching, accept, "\r\nrest"}));
  EXPECT_EQ(answered.step, Step::Open);
  EXPECT_EQ(answered.rest, "rest");
}

TEST(ClientHandshake, InterimResponsesHaveABound) {
  std::string interim;
  for (int i = 0; i < 32; ++i) interim += "HTTP/1.1 103 \r\n\r\n";
  EXPECT_EQ(answer(text({interim, switching, accept, "\r\n"})).step, Step::Open);
  const std::string more = interim + "HTTP/1.1 103 \r\n\r\n";
  EXPECT_EQ(answer(text({more, switching, accept, "\r\n"})).problem.code(),
            Errc::TooManyInterimResponses);
}

TEST(ClientHandshake, AnotherAnswerIsToldInItsWords) {
  EXPECT_EQ(refusal("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
            "the server answered 403 Forbidden");
  EXPECT_EQ(refusal("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n"),
            "the server answered 302 Found, redirecting to /login");
  EXPECT_EQ(refusal("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n"
                    "Content-Length: 14\r\n\r\n404 Not Found\n"),
            "the server answered 404 Not Found");
  ClientHandshake asked = handshake({});
  std::string received =
      "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n"
      "Content-Length: 36\r\n\r\nPages of this origin may not connect\x1b[2J";
  EXPECT_EQ(asked.read(received), Step::Refused);
  EXPECT_EQ(asked.problem().text,
            "the server answered 403 Forbidden: Pages of this origin may not connect");
}

TEST(ClientHandshake, WhatDoesNotProveItselfIsRefused) {
  EXPECT_EQ(refusal(text({switching, "\r\n"})), "Sec-WebSocket-Accept does not match the key");
  EXPECT_EQ(refusal(text({switching, "Sec-WebSocket-Accept: c3BQTE1CaVR4YVE5\r\n\r\n"})),
            "Sec-WebSocket-Accept does not match the key");
  EXPECT_EQ(refusal(text({switching, accept, accept, "\r\n"})),
            "Sec-WebSocket-Accept does not match the key");
  EXPECT_EQ(refusal(text(
                {"HTTP/1.1 101 Sure\r\nUpgrade: h2c\r\nConnection: upgrade\r\n", accept, "\r\n"})),
            "the server switched to another protocol");
  EXPECT_EQ(refusal(text({"HTTP/1.1 101 Sure\r\nUpgrade: websocket\r\n", accept, "\r\n"})),
            "the server switched to another protocol");
  EXPECT_EQ(refusal(text({"HTTP/1.0 101 Sure\r\nUpgrade: websocket\r\nConnection: upgrade\r\n",
                          accept, "\r\n"})),
            "the server switched to another protocol");
}

TEST(ClientHandshake, WhatWasNotOfferedIsRefused) {
  constexpr std::string_view extension =
      "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n\r\n";
  EXPECT_EQ(refusal(text({switching, accept, extension})),
            "the server uses an extension that was not offered");
  WebSocketOptions options;
  options.compression = WebSocketCompression::PerMessage;
  options.subprotocols = {"chat"};
  EXPECT_EQ(answer(text({switching, accept, extension}), options).step,
            is_deflate_available() ? Step::Open : Step::Refused);
  EXPECT_EQ(
      refusal(text({switching, accept, "Sec-WebSocket-Extensions: x-webkit\r\n\r\n"}), options),
      "the server uses an extension that was not offered");
  EXPECT_EQ(refusal(text({switching, accept, "Sec-WebSocket-Protocol: other\r\n\r\n"}), options),
            "the server chose a subprotocol that was not offered");
  EXPECT_EQ(
      refusal(text({switching, accept, "Sec-WebSocket-Protocol: chat, chat\r\n\r\n"}), options),
      "the server chose a subprotocol that was not offered");
}

TEST(ClientHandshake, MalformedHeadsAreRefused) {
  EXPECT_EQ(answer("SSH-2.0-OpenSSH_9.2\r\n").step, Step::Refused);
  EXPECT_EQ(answer("HTTP/1.1 101 \r\nUpgrade : websocket\r\n\r\n").problem.code(),
            Errc::MalformedField);
  EXPECT_EQ(
      answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n").problem.code(),
      Errc::InvalidContentLength);
  const std::string endless = "HTTP/1.1 101 \r\nA: " + std::string(20'000, 'a');
  ClientHandshake asked = handshake({});
  std::string received = endless;
  EXPECT_EQ(asked.read(received), Step::Refused);
  EXPECT_EQ(asked.problem().code(), Errc::FieldTooLong);
}

}  // namespace
}  // namespace skua::ws
