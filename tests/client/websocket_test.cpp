// SPDX-License-Identifier: MIT
// A client's WebSocket against skua's own server: on every back end, over TCP and TLS.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "client_websocket_fixture.hpp"
#include "support/echo_socket.hpp"
#include "ws/deflate.hpp"

namespace skua {
namespace {

using testing::ClientWebSocket;
using testing::echo;

TEST_P(ClientWebSocket, MessagesAreEchoed) {
  router_.websocket("/echo", echo);
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/echo"));
    EXPECT_TRUE(socket) << socket.error().text;
    if (!socket) co_return;
    EXPECT_TRUE(socket->is_open());
    for (const std::size_t size : {0U, 1U, 125U, 126U, 65'535U, 65'536U, 1'000'000U}) {
      const std::string text(size, 'a');
      EXPECT_TRUE(co_await socket->send(text));
      auto answer = co_await socket->receive();
      EXPECT_TRUE(answer && answer->text == text && answer->type == MessageType::Text) << size;
      const std::string binary(size, '\xff');
      EXPECT_TRUE(co_await socket->send(bytes(binary)));
      answer = co_await socket->receive();
      EXPECT_TRUE(answer && answer->text == binary && answer->type == MessageType::Binary) << size;
    }
  });
}

TEST_P(ClientWebSocket, TheHandshakeSaysWhatItWasToldTo) {
  WebSocketOptions options;
  options.subprotocols = {"chat.v1"};
  router_.websocket(
      "/rooms/{room}",
      [](const Request& request, WebSocket& socket, std::string room) -> Task<> {
        std::string said = room;
        for (const std::string_view name : {"Host", "Authorization", "X-Token", "User-Agent"}) {
          said.append("|").append(request.header(name).value_or("-"));
        }
        said.append("|").append(request.query("q").value_or("-"));
        co_await socket.send(said);
      },
      options);
  const std::string host = "127.0.0.1:" + std::to_string(server().port());
  run([&](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/rooms/a%20b?q=1"))
                      .header("X-Token", "secret")
                      .basic_auth("ada", "pw")
                      .subprotocol("chat.v2")
                      .subprotocol("chat.v1");
    EXPECT_TRUE(socket) << socket.error().text;
    if (!socket) co_return;
    EXPECT_EQ(socket->subprotocol(), "chat.v1");
    auto said = co_await socket->receive();
    EXPECT_TRUE(said);
    if (said) {
      EXPECT_EQ(said->text, "a b|" + host + "|Basic YWRhOnB3|secret|skua|1");
    }
  });
}

TEST_P(ClientWebSocket, CredentialsOfTheUrlAreSent) {
  router_.websocket("/", [](const Request& request, WebSocket& socket) -> Task<> {
    const std::string said(request.header("Authorization").value_or("-"));
    co_await socket.send(said);
  });
  std::string with_user = url("/");
  with_user.insert(with_user.find("//") + 2, "ada:p%40w@");
  run([&](Client& client) -> Task<> {
    auto socket = co_await client.websocket(with_user);
    EXPECT_TRUE(socket) << socket.error().text;
    if (!socket) co_return;
    auto said = co_await socket->receive();
    EXPECT_TRUE(said && said->text == "Basic YWRhOnBAdw==");
  });
}

TEST_P(ClientWebSocket, MessagesAreCompressedWhereBothWant) {
  if (!ws::is_deflate_available()) GTEST_SKIP() << "built without zlib";
  WebSocketOptions options;
  options.compression = WebSocketCompression::Context;
  router_.websocket("/", echo, options);
  run([this](Client& client) -> Task<> {
    for (const auto wanted : {WebSocketCompression::Off, WebSocketCompression::PerMessage,
                              WebSocketCompression::Context}) {
      auto socket = co_await client.websocket(url("/")).compression(wanted);
      EXPECT_TRUE(socket) << socket.error().text;
      if (!socket) co_return;
      EXPECT_EQ(socket->is_compressed(), wanted != WebSocketCompression::Off);
      for (int i = 0; i < 3; ++i) {
        const std::string text = "again and again and again " + std::string(5000, 'x');
        EXPECT_TRUE(co_await socket->send(text));
        auto answer = co_await socket->receive();
        EXPECT_TRUE(answer && answer->text == text);
      }
    }
  });
}

TEST_P(ClientWebSocket, AServerThatClosesSaysWhy) {
  router_.websocket("/", [](WebSocket& socket) -> Task<> {
    socket.close(static_cast<CloseCode>(4001), "enough");
    co_return;
  });
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_FALSE(socket->is_open());
    EXPECT_EQ(static_cast<unsigned>(socket->close_reason().code), 4001U);
    EXPECT_EQ(socket->close_reason().text, "enough");
    EXPECT_FALSE(co_await socket->send("too late"));
    EXPECT_FALSE(co_await socket->receive());
  });
}

TEST_P(ClientWebSocket, AClientThatClosesIsAnswered) {
  router_.websocket("/", keep_reason());
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    socket->close(CloseCode::GoingAway, "bye");
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(socket->close_reason().code, CloseCode::GoingAway);
  });
  const CloseReason reason = reason_seen();
  EXPECT_EQ(reason.code, CloseCode::GoingAway);
  EXPECT_EQ(reason.text, "bye");
}

// A message that receive() has returned does not block the closing handshake.
TEST_P(ClientWebSocket, OneThatIsDroppedSaysGoodbye) {
  router_.websocket("/", [this](WebSocket& socket) -> Task<> {
    co_await socket.send("one");
    co_await socket.send("two");
    while (co_await socket.receive()) continue;
    seen_.set_value(socket.close_reason());
  });
  run([this](Client& client) -> Task<> {
    {
      auto socket = co_await client.websocket(url("/"));
      EXPECT_TRUE(socket);
      if (!socket) co_return;
      auto one = co_await socket->receive();
      EXPECT_TRUE(one && one->text == "one");
    }
    co_await client.close();
  });
  EXPECT_EQ(reason_seen().code, CloseCode::Normal);
}

// The client does not wait for the peer's Close frame, but still sends queued messages.
TEST_P(ClientWebSocket, OneThatIsDroppedWithItsClientSaysGoodbye) {
  std::string last;
  router_.websocket("/", [&](WebSocket& socket) -> Task<> {
    while (auto message = co_await socket.receive()) last = message->text;
    seen_.set_value(socket.close_reason());
  });
  run([this](Client&) -> Task<> {
    Client other(options_);
    auto socket = co_await other.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    EXPECT_TRUE(co_await socket->send("last words"));
  });
  EXPECT_EQ(reason_seen().code, CloseCode::Normal);
  EXPECT_EQ(last, "last words");
}

TEST_P(ClientWebSocket, AServerThatClosesIsAnsweredAlsoByOneThatGoes) {
  router_.websocket("/", [this](WebSocket& socket) -> Task<> {
    socket.close(static_cast<CloseCode>(4001), "enough");
    while (co_await socket.receive()) continue;
    seen_.set_value(socket.close_reason());
  });
  run([this](Client&) -> Task<> {
    Client other(options_);
    auto socket = co_await other.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    EXPECT_FALSE(co_await socket->receive());
  });
  EXPECT_EQ(static_cast<unsigned>(reason_seen().code), 4001U);
}

TEST_P(ClientWebSocket, NobodyIsToldOfPingsWhoHasLetGo) {
  router_.websocket("/", [this](WebSocket& socket) -> Task<> {
    co_await socket.receive();
    socket.ping("late");
    while (co_await socket.receive()) continue;
    seen_.set_value(socket.close_reason());
  });
  int told = 0;
  run([&](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    socket->on_control([&](WebSocketControl, std::string_view) { ++told; });
    EXPECT_TRUE(co_await socket->send("x"));
  });
  EXPECT_EQ(reason_seen().code, CloseCode::Normal);
  EXPECT_EQ(told, 0);
}

TEST_P(ClientWebSocket, AServersHandlerThatEndsSaysGoodbye) {
  router_.websocket("/", [](WebSocket& socket) -> Task<> { co_await socket.receive(); });
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    EXPECT_TRUE(co_await socket->send("x"));
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(socket->close_reason().code, CloseCode::Normal);
  });
}

TEST_P(ClientWebSocket, AUrlMayBeRelativeToABase) {
  router_.websocket("/api/echo", echo);
  options_.base_url = ClientTest::url("/api/");
  run([](Client& client) -> Task<> {
    for (const std::string_view target : {"echo", "/api/echo"}) {
      auto socket = co_await client.websocket(target);
      EXPECT_TRUE(socket) << socket.error().text;
      if (!socket) co_return;
      EXPECT_TRUE(co_await socket->send("x"));
      auto answer = co_await socket->receive();
      EXPECT_TRUE(answer && answer->text == "x");
    }
  });
}

TEST_P(ClientWebSocket, ASocketOutlivesItsClient) {
  router_.websocket("/", echo);
  run([this](Client&) -> Task<> {
    std::optional<Client> other(std::in_place, options_);
    auto socket = co_await other->websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    other.reset();
    EXPECT_TRUE(co_await socket->send("still here"));
    auto answer = co_await socket->receive();
    EXPECT_TRUE(answer && answer->text == "still here");
  });
}

TEST_P(ClientWebSocket, SendersWorkFromOtherThreads) {
  router_.websocket("/", echo);
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    std::thread other([sender = socket->sender()] {
      for (int i = 0; i < 100; ++i) sender.send(std::to_string(i));
      sender.close(CloseCode::Normal, "done");
    });
    int count = 0;
    while (auto message = co_await socket->receive()) {
      EXPECT_EQ(message->text, std::to_string(count++));
    }
    other.join();
    EXPECT_EQ(socket->close_reason().code, CloseCode::Normal);
  });
}

TEST_P(ClientWebSocket, PingsAndPongsAreTold) {
  router_.websocket("/", [](WebSocket& socket) -> Task<> {
    socket.ping("from the server");
    while (auto message = co_await socket.receive()) co_await socket.send(message->text);
  });
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    std::vector<std::string> seen;
    socket->on_control([&](WebSocketControl control, std::string_view payload) {
      seen.push_back((control == WebSocketControl::Ping ? "ping " : "pong ") +
                     std::string(payload));
      if (seen.size() == 2) socket->close();
    });
    socket->ping("mine");
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(seen, (std::vector<std::string>{"ping from the server", "pong mine"}));
  });
}

TEST_P(ClientWebSocket, CallbacksAreCalledInOrder) {
  router_.websocket("/", echo);
  run([this](Client& client) -> Task<> {
    std::vector<std::string> calls;
    ClientWebSocketCallbacks callbacks;
    callbacks.open = [&](WebSocket& socket) {
      calls.emplace_back("open");
      socket.send("one");
    };
    callbacks.message = [&](WebSocket& socket, Message message) {
      calls.emplace_back(message.text);
      if (calls.size() == 2) {
        socket.send("two");
      } else {
        socket.close(CloseCode::Normal, "seen all");
      }
    };
    auto end = co_await client.websocket(url("/")).run(callbacks);
    EXPECT_TRUE(end && end->code == CloseCode::Normal);
    EXPECT_EQ(calls, (std::vector<std::string>{"open", "one", "two"}));
  });
}

TEST_P(ClientWebSocket, CallbacksAreToldThatThereIsRoomAgain) {
  router_.websocket("/", [](WebSocket& socket) -> Task<> {
    while (co_await socket.receive()) continue;
  });
  run([this](Client& client) -> Task<> {
    WebSocketOptions options;
    options.queue_bytes = 64_MiB;
    ClientWebSocketCallbacks callbacks;
    callbacks.open = [](WebSocket& socket) {
      const std::string large(1_MiB, 'x');
      for (int i = 0; i < 32; ++i) socket.send(large);
    };
    int drained = 0;
    callbacks.drain = [&](WebSocket& socket) {
      ++drained;
      socket.close();
    };
    auto end = co_await client.websocket(url("/")).options(options).run(callbacks);
    EXPECT_TRUE(end);
    EXPECT_EQ(drained, 1);
  });
}

TEST_P(ClientWebSocket, WhatACallbackThrowsEndsTheTask) {
  router_.websocket("/", keep_reason());
  run([this](Client& client) -> Task<> {
    ClientWebSocketCallbacks callbacks;
    callbacks.open = [](WebSocket&) { throw std::runtime_error("oops"); };
    std::string what;
    try {
      auto end = co_await client.websocket(url("/")).run(callbacks);
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "oops");
  });
  EXPECT_EQ(reason_seen().code, CloseCode::InternalError);
}

TEST_P(ClientWebSocket, ASlowServerMakesSendersWait) {
  std::size_t received = 0;
  router_.websocket("/", [&](WebSocket& socket) -> Task<> {
    co_await sleep(50ms);
    while (auto message = co_await socket.receive()) received += message->text.size();
    seen_.set_value(socket.close_reason());
  });
  run([this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/"));
    EXPECT_TRUE(socket);
    if (!socket) co_return;
    const std::string large(256_KiB, 'x');
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(co_await socket->send(large));
      EXPECT_LE(socket->queued_bytes(), 2_MiB);
    }
    socket->close();
    EXPECT_FALSE(co_await socket->receive());
  });
  EXPECT_EQ(reason_seen().code, CloseCode::Normal);
  EXPECT_EQ(received, 100 * 256_KiB);
}

// Dropping it at any point leaks nothing, and the server notices.
TEST_P(ClientWebSocket, CanBeDroppedAtEveryTurn) {
  router_.websocket("/", echo);
  const std::string to = url("/");
  for (int turns = 0; turns < 24; ++turns) {
    const auto loop = loop::Loop::create({.backend = backend()}).value();
    loop::WorkerPool pool(1, 8);
    loop->use_pool(&pool);
    {
      std::optional<Client> client;
      std::optional<Task<>> task;
      loop->post([&] {
        client.emplace(options_);
        task.emplace(talk(*client, to));
        task->start(nullptr, nullptr);
      });
      for (int i = 0; i <= turns; ++i) loop->run_once(1ms);
      loop->post([&] {
        task.reset();
        client.reset();
      });
      loop->run_once(Duration(0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ClientWebSocket, testing::client_test_values(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
