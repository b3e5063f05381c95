// SPDX-License-Identifier: MIT
// Sessions, tokens and security fields around a suspending handler, over a real socket, on every
// back end.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "crypto/digest.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::handshake;
using testing::TestServer;
using testing::WebSocketClient;

Router sample() {
  Router router;
  router.use(security_headers());
  if (crypto::is_available()) {
    router.use(sessions({.keys = {"a key of thirty-two bytes or more"}, .secure = false}));
    router.get("/in/{name}", [](Request& request, std::string name) -> Task<Response> {
      co_await yield();
      session(request).set("name", name);
      co_return Response("hello");
    });
    router.get("/", [](Request& request) -> Task<std::string> {
      co_await yield();
      co_return std::string(session(request).get("name").value_or("nobody"));
    });
    router.websocket("/socket", [](Request& request, WebSocket& socket) -> Task<> {
      co_await yield();
      co_await socket.send(session(request).get("name").value_or("nobody"));
    });
    WebSocketCallbacks callbacks;
    callbacks.open = [](WebSocket& socket, Request& request) {
      socket.send(session(request).get("name").value_or("nobody"));
      EXPECT_NE(socket.attachments().find<Session>(), nullptr);
    };
    router.websocket("/callbacks", std::move(callbacks));
  }
  Router api;
  api.use(auth::bearer([](std::string_view token) { return auth::token_equals(token, "abc"); }));
  api.get("/", []() -> Task<std::string> { co_return "for robots"; });
  router.mount("/api", std::move(api));
  return router;
}

class AroundCoroutines : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Answer ask(std::string_view path, std::string_view fields = {}) {
    client_.send(get(path, fields));
    return client_.answer().value_or(Answer{});
  }

  Router router_ = sample();
  TestServer server_{router_, GetParam()};
  Client client_ = server_.connect();
};

TEST_P(AroundCoroutines, ASessionLastsFromRequestToRequest) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  EXPECT_EQ(ask("/").body, "nobody");
  const std::string cookie = ask("/in/Ada").field("Set-Cookie").value_or("");
  ASSERT_TRUE(cookie.starts_with("session=")) << cookie;
  const std::string pair = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(ask("/", "Cookie: " + pair + "\r\n").body, "Ada");
  std::string forged = pair;
  forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_EQ(ask("/", "Cookie: " + forged + "\r\n").body, "nobody");
}

TEST_P(AroundCoroutines, AWebSocketHasTheSessionOfItsRequest) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  const std::string cookie = ask("/in/Ada").field("Set-Cookie").value_or("");
  const std::string fields = "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n";
  for (const std::string_view path : {"/socket", "/callbacks"}) {
    WebSocketClient client(server_.connect());
    EXPECT_EQ(client.open(handshake(path, fields)).substr(9, 3), testing::opened()) << path;
    EXPECT_EQ(client.text(), "Ada") << path;
  }
}

TEST_P(AroundCoroutines, ATokenIsAskedForBeforeTheHandlerStarts) {
  EXPECT_EQ(ask("/api").status, 401);
  EXPECT_EQ(ask("/api", "Authorization: Bearer abd\r\n").status, 401);
  EXPECT_EQ(ask("/api", "Authorization: Bearer abc\r\n").body, "for robots");
}

TEST_P(AroundCoroutines, EveryAnswerHasTheSecurityFields) {
  for (const std::string_view path : {"/api", "/nowhere"}) {
    EXPECT_EQ(ask(path).field("X-Content-Type-Options"), "nosniff") << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, AroundCoroutines, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
