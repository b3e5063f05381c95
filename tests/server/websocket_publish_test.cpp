// SPDX-License-Identifier: MIT
// Messages to many sockets, to slow ones, and from other threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"
#include "support/websocket_client.hpp"
#include "ws/deflate.hpp"

namespace skua {
namespace {

using testing::handshake;
using testing::TestServer;
using testing::TestWorker;
using testing::WebSocketClient;
using ws::Opcode;

class WebSocketPublish : public ::testing::TestWithParam<BackendChoice> {
 protected:
  TestWorker& worker() {
    if (worker_ == nullptr) worker_ = std::make_unique<TestWorker>(router_, GetParam());
    return *worker_;
  }
  WebSocketClient open(std::string_view path, std::string_view fields = {}) {
    WebSocketClient client(worker().connect(), [this] { (*worker()).run_once(1ms); });
    EXPECT_EQ(client.open(handshake(path, fields)).substr(9, 3), testing::opened());
    return client;
  }
  // Adds sockets that subscribe to `room` and publish there every message they receive.
  void add_room(WebSocketOptions options = {}) {
    router_.websocket(
        "/room",
        [](WebSocket& socket) -> Task<> {
          socket.subscribe("room");
          socket.subscribe("room");  // a second time changes nothing
          while (auto message = co_await socket.receive()) {
            if (message->text == "leave") socket.unsubscribe("room");
            socket.publish("room", message->text, message->type);
          }
        },
        std::move(options));
  }

  Router router_;
  std::unique_ptr<TestWorker> worker_;
};

TEST_P(WebSocketPublish, SubscribersHear) {
  add_room();
  WebSocketClient one = open("/room");
  WebSocketClient two = open("/room");
  one.send("hello");
  EXPECT_EQ(one.text(), "hello");
  EXPECT_EQ(two.text(), "hello");
  EXPECT_EQ(worker().counters().subscriptions, 2U);
  one.send("leave");
  EXPECT_EQ(two.text(), "leave");
  EXPECT_EQ(worker().counters().subscriptions, 1U);
  two.send(Opcode::Binary, "\xff");
  EXPECT_EQ(two.text(), "\xff");
  EXPECT_EQ(two.type(), MessageType::Binary);
  one.close(1000);
  EXPECT_EQ(one.text(), "<close 1000 >");  // and nothing published after it unsubscribed
}

TEST_P(WebSocketPublish, WhoIsGoneHearsNothing) {
  add_room();
  WebSocketClient stays = open("/room");
  {
    WebSocketClient goes = open("/room");
    goes.wire().reset();
  }
  worker().settle();
  stays.send("anybody?");
  EXPECT_EQ(stays.text(), "anybody?");
}

TEST_P(WebSocketPublish, CompressedOnceForThoseWhoAgreed) {
  if (!ws::is_deflate_available()) GTEST_SKIP() << "built without zlib";
  add_room({.compression = WebSocketCompression::PerMessage});
  WebSocketClient plain = open("/room");
  WebSocketClient coded = open("/room", "Sec-WebSocket-Extensions: permessage-deflate\r\n");
  ws::Inflater inflater(15, false);
  coded.use(inflater);
  const std::string text(10'000, 'a');
  plain.send(text);
  EXPECT_EQ(plain.text(), text);
  EXPECT_EQ(coded.text(), text);
  EXPECT_LT(coded.received_bytes(), 1000U);
  EXPECT_GT(plain.received_bytes(), 10'000U);
}

// A subscriber that does not read costs only its queue, and the others do not notice.
TEST_P(WebSocketPublish, ASlowSubscriberIsClosed) {
  add_room({.queue_bytes = 100'000});
  WebSocketClient slow = open("/room");
  WebSocketClient quick = open("/room");
  const std::string text(50'000, 'x');
  for (int i = 0; i < 40; ++i) {
    quick.send(text);
    ASSERT_EQ(quick.text(), text);
  }
  std::string last;
  int count = 0;
  for (last = slow.text(); last == text; last = slow.text()) ++count;
  EXPECT_EQ(last, "<close 1008 messages are read too slowly>");
  EXPECT_LT(count, 40);
}

TEST_P(WebSocketPublish, OldOrNewMessagesAreDropped) {
  for (const SlowPeer policy : {SlowPeer::DropOldest, SlowPeer::DropNewest}) {
    worker_.reset();
    router_ = Router();
    add_room({.queue_bytes = 200'000, .slow_peer = policy});
    WebSocketClient slow = open("/room");
    WebSocketClient quick = open("/room");
    const auto nth = [](int i) { return std::to_string(i) + ":" + std::string(20'000, 'x'); };
    for (int i = 0; i < 100; ++i) {
      quick.send(nth(i));
      ASSERT_EQ(quick.text(), nth(i));
    }
    std::vector<int> seen;
    slow.close(1000);
    for (std::string text = slow.text(); text.size() > 20'000; text = slow.text()) {
      seen.push_back(std::atoi(text.c_str()));
    }
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front(), 0);
    EXPECT_LT(seen.size(), 100U);
    EXPECT_EQ(seen.back() == 99, policy == SlowPeer::DropOldest);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  }
}

TEST_P(WebSocketPublish, SendingWaitsForThePeer) {
  int sent = 0;
  router_.websocket("/", [&](WebSocket& socket) -> Task<> {
    const std::string text(100'000, 'x');
    for (; sent < 100; ++sent) {
      const bool is_taken = co_await socket.send(text);
      EXPECT_TRUE(is_taken);
      EXPECT_LE(socket.queued_bytes(), 1'200'000U);
    }
  });
  WebSocketClient client = open("/");
  for (int i = 0; i < 100; ++i) worker().settle();
  EXPECT_GT(sent, 5);
  EXPECT_LT(sent, 50);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(client.text().size(), 100'000U);
  EXPECT_EQ(client.text(), "<close 1000 >");
}

TEST_P(WebSocketPublish, CallbacksAreCalledInTheirOrder) {
  std::vector<std::string> log;
  WebSocketCallbacks callbacks;
  callbacks.open = [&](WebSocket& socket, Request& request) {
    socket.attachments().set(std::string(request.query("name").value_or("-")));
    log.push_back("open");
    socket.send("welcome");
  };
  callbacks.message = [&](WebSocket& socket, Message message) {
    log.push_back(*socket.attachments().find<std::string>() + " says " + std::string(message.text));
    if (message.text == "throw") throw std::runtime_error("no");
    if (message.text == "much") socket.send(std::string(900'000, 'x'));
  };
  callbacks.drain = [&](WebSocket&) { log.push_back("drain"); };
  callbacks.close = [&](WebSocket&, const CloseReason& reason) {
    log.push_back("close " + std::to_string(static_cast<int>(reason.code)));
  };
  router_.websocket("/", std::move(callbacks));
  {
    WebSocketClient client = open("/?name=ada");
    EXPECT_EQ(client.text(), "welcome");
    client.send("hi");
    client.send("much");
    EXPECT_EQ(client.text().size(), 900'000U);
    client.close(4000);
    EXPECT_EQ(client.text(), "<close 4000 >");
    EXPECT_EQ(log,
              (std::vector<std::string>{"open", "ada says hi", "ada says much", "close 4000"}));
  }
  log.clear();
  WebSocketClient client = open("/");
  EXPECT_EQ(client.text(), "welcome");
  client.send("throw");
  EXPECT_EQ(client.text(), "<close 1011 >");
  client.wire().end();
  worker().turn_until([&] { return log.back().starts_with("close"); });
  EXPECT_EQ(log.back(), "close 1006");
}

// Two threads of a server, and threads of the application.
TEST_P(WebSocketPublish, OtherThreadsSendAndPublish) {
  std::promise<WebSocketSender> sender;
  router_.websocket("/all", [](WebSocket& socket) -> Task<> {
    socket.subscribe("all");
    co_await socket.send("ready");
    while (co_await socket.receive()) continue;
  });
  router_.websocket("/one", [&](WebSocket& socket) -> Task<> {
    sender.set_value(socket.sender());
    while (co_await socket.receive()) continue;
  });
  TestServer server(router_, GetParam(), {.threads = 2});
  std::vector<WebSocketClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back(server.connect());
    clients.back().open(handshake("/all"));
    EXPECT_EQ(clients.back().text(), "ready");
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&server] {
      for (int k = 0; k < 100; ++k) server->publish("all", "news");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (WebSocketClient& client : clients) {
    for (int i = 0; i < 200; ++i) ASSERT_EQ(client.text(), "news");
  }
  WebSocketClient one(server.connect());
  one.open(handshake("/one"));
  const WebSocketSender remote = sender.get_future().get();
  EXPECT_TRUE(remote.is_open());
  std::thread([&remote] {
    for (int i = 0; i < 100; ++i) remote.send(std::to_string(i));
    remote.close(CloseCode::Normal, "done");
  }).join();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.text(), std::to_string(i));
  EXPECT_EQ(one.text(), "<close 1000 done>");
  one.close(1000);
  EXPECT_EQ(one.text(), "<end>");
  server->cancel();
  EXPECT_FALSE(remote.is_open());
  remote.send("nobody is there");
}

INSTANTIATE_TEST_SUITE_P(Backends, WebSocketPublish, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
