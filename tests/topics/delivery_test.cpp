// SPDX-License-Identifier: MIT
// Topics over HTTP: server-sent events, long polls and WebSockets, and clients that come back.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::handshake;
using testing::TestServer;
using testing::TestWorker;
using testing::WebSocketClient;

class TopicDelivery : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void serve(TopicsOptions options = {}, WebSocketOptions socket_options = {}) {
    topics_ = std::make_unique<Topics>(std::move(options));
    router_.get("/events",
                [this](const Request& request) { return topics_->events(request, "news"); });
    router_.get("/poll", [this](Request& request) { return topics_->poll(request, "news"); });
    router_.websocket(
        "/socket",
        [this](const Request& request, WebSocket& socket) -> Task<> {
          const std::string after(request.query("after").value_or(""));
          const TopicPresence seat =
              topics_->enter("news", {.name = std::string(request.query("name").value_or("-"))});
          Scope scope;
          scope.spawn(topics_->forward(socket, "news", {.after = after}));
          while (co_await socket.receive()) continue;
        },
        std::move(socket_options));
    worker_ = std::make_unique<TestWorker>(router_, GetParam());
  }
  // Topics of one process publish at once.
  std::string publish(std::string text) {
    Task<Result<std::string, Problem>> task = topics_->publish("news", std::move(text));
    task.start(nullptr, nullptr);
    return task.result().value();
  }
  WebSocketClient open(std::string_view path) {
    WebSocketClient client(worker_->connect(), [this] { (**worker_).run_once(1ms); });
    EXPECT_EQ(client.open(handshake(path)).substr(9, 3), testing::opened());
    return client;
  }
  // Reads until a text has come, and returns all that came up to its end.
  std::string read_to(Client& client, std::string& read, std::string_view text) {
    while (read.find(text) == read.npos) {
      worker_->turn_until_readable(client);
      const std::string more = client.some();
      if (more.empty()) return std::exchange(read, {}) + "(the end)";
      read += more;
    }
    const std::size_t end = read.find(text) + text.size();
    std::string all = read.substr(0, end);
    read.erase(0, end);
    return all;
  }
  std::string poll(const std::string& after) {
    Client client = worker_->connect();
    client.send(get("/poll?after=" + after));
    worker_->turn_until_readable(client);
    const auto answer = client.answer();
    return answer ? answer->body : "(no answer)";
  }

  std::unique_ptr<Topics> topics_;
  Router router_;
  std::unique_ptr<TestWorker> worker_;
};

std::string event(std::string_view id, std::string_view text) {
  return "id: " + std::string(id) + "\ndata: " + std::string(text) + "\n\n";
}

TEST_P(TopicDelivery, EventsComeWithTheirIds) {
  serve();
  Client client = worker_->connect();
  client.send(get("/events"));
  std::string read;
  const std::string head = read_to(client, read, "id: ");
  EXPECT_NE(head.find("text/event-stream"), head.npos) << head;
  read_to(client, read, "\n\n");  // the id of the beginning
  const std::string first = publish("one\ntwo");
  EXPECT_NE(read_to(client, read, "data: two\n\n").find("id: " + first + "\ndata: one\n"),
            std::string::npos);
  const std::string second = publish("three");
  EXPECT_NE(read_to(client, read, "three\n\n").find(event(second, "three")), std::string::npos);
}

TEST_P(TopicDelivery, EventsGoOnAfterTheLastId) {
  serve({.history = 10});
  const std::string first = publish("first");
  publish("second");
  publish("third");
  for (const std::string& request :
       {get("/events", "Last-Event-ID: " + first + "\r\n"), get("/events?after=" + first)}) {
    Client client = worker_->connect();
    client.send(request);
    std::string read;
    const std::string all = read_to(client, read, "data: third\n\n");
    EXPECT_EQ(all.find("data: first"), all.npos) << all;
    EXPECT_EQ(all.find("event: gap"), all.npos) << all;
    EXPECT_LT(all.find("data: second\n\n"), all.size()) << all;
  }
}

TEST_P(TopicDelivery, EventsThatAreNoLongerKeptAreAGap) {
  serve({.history = 1});
  const std::string first = publish("first");
  const std::string second = publish("second");
  publish("third");
  Client client = worker_->connect();
  client.send(get("/events", "Last-Event-ID: " + first + "\r\n"));
  std::string read;
  const std::string all = read_to(client, read, "data: third\n\n");
  EXPECT_LT(all.find("event: gap\nid: " + second + "\n"), all.find("third")) << all;
}

TEST_P(TopicDelivery, APollBeginsAtOnce) {
  serve();
  const std::string begun = poll("");
  EXPECT_TRUE(begun.starts_with(R"({"messages":[],"after":")")) << begun;
  EXPECT_TRUE(begun.ends_with(R"(","gap":false})")) << begun;
}

TEST_P(TopicDelivery, APollWaitsForAMessage) {
  serve({.history = 10});
  const std::string first = publish("first");
  Client client = worker_->connect();
  client.send(get("/poll?after=" + first));
  worker_->settle();
  EXPECT_FALSE(client.is_readable() && !testing::speaks_http2());
  const std::string second = publish("sec\"ond");
  worker_->turn_until_readable(client);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, R"({"messages":[{"id":")" + second +
                              R"(","text":"sec\"ond"}],"after":")" + second + R"(","gap":false})");
  EXPECT_EQ(answer->field("Cache-Control"), "no-store");
  const std::string third = publish("third");
  const std::string fourth = publish("fourth");
  const std::string both = poll(second);
  EXPECT_NE(both.find(third), both.npos);
  EXPECT_NE(both.find(R"("after":")" + fourth), both.npos);
}

TEST_P(TopicDelivery, APollWithoutNewsEndsInTime) {
  serve({.history = 10});
  const std::string first = publish("first");
  Client client = worker_->connect();
  client.send(get("/poll?after=" + first));
  worker_->settle();
  worker_->advance(21s);
  worker_->turn_until_readable(client);
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, R"({"messages":[],"after":")" + first + R"(","gap":false})");
}

TEST_P(TopicDelivery, APollIsToldOfAGap) {
  serve({.history = 1});
  const std::string first = publish("first");
  publish("second");
  const std::string third = publish("third");
  const std::string all = poll(first);
  EXPECT_NE(all.find("third"), all.npos) << all;
  EXPECT_TRUE(all.ends_with(third + R"(","gap":true})")) << all;
  EXPECT_TRUE(poll("%22nonsense").ends_with(R"("gap":true})"));
}

TEST_P(TopicDelivery, SocketsResume) {
  serve({.history = 10});
  std::string second;
  {
    WebSocketClient ada = open("/socket?name=Ada");
    const std::string start = ada.text();
    EXPECT_TRUE(start.starts_with(R"({"id":")")) << start;
    const std::string first = publish("first");
    EXPECT_EQ(ada.text(), R"({"id":")" + first + R"(","text":"first"})");
    second = publish("second");
    EXPECT_EQ(ada.text(), R"({"id":")" + second + R"(","text":"second"})");
    ada.wire().reset();
  }
  const std::string third = publish("third");
  WebSocketClient again = open("/socket?after=" + second);
  EXPECT_EQ(again.text(), R"({"id":")" + second + R"("})");
  EXPECT_EQ(again.text(), R"({"id":")" + third + R"(","text":"third"})");
  WebSocketClient lost = open("/socket?after=5-5");
  EXPECT_EQ(lost.text(), R"({"id":"5-5"})");
  EXPECT_TRUE(lost.text().ends_with(R"(","gap":true})"));
}

// Messages that a slow peer has not taken wait in the topic, once for all.
TEST_P(TopicDelivery, ASlowSocketMissesTheOldest) {
  serve({.max_waiting = 10}, {.queue_bytes = 10'000});
  WebSocketClient slow = open("/socket");
  slow.text();
  const std::string text(100'000, 'x');
  for (int i = 0; i < 60; ++i) {
    publish(text);
    worker_->settle();
  }
  std::size_t texts = 0;
  std::size_t gaps = 0;
  publish("last");
  while (true) {
    const std::string got = slow.text();
    if (got.find("last") != got.npos) break;
    ASSERT_EQ(got.front(), '{') << got;
    ++(got.ends_with(R"("gap":true})") ? gaps : texts);
  }
  EXPECT_EQ(gaps, 1U);
  EXPECT_GE(texts, 9U);
  EXPECT_LT(texts, 60U);
}

TEST_P(TopicDelivery, OrItIsClosed) {
  serve({.max_waiting = 10, .slow_subscriber = SlowSubscriber::Close}, {.queue_bytes = 10'000});
  WebSocketClient slow = open("/socket");
  slow.text();
  const std::string text(100'000, 'x');
  for (int i = 0; i < 60; ++i) {
    publish(text);
    worker_->settle();
  }
  std::string got;
  do got = slow.text();
  while (got.front() == '{');
  EXPECT_EQ(got, "<close 1008 messages were taken too slowly>");
}

TEST_P(TopicDelivery, MembersLeaveWithTheirSockets) {
  serve();
  const auto names = [this] {
    auto asking = topics_->members("news");
    asking.start(nullptr, nullptr);
    std::string all;
    for (const TopicMember& member : asking.result().value()) all += member.name + " ";
    return all;
  };
  WebSocketClient ada = open("/socket?name=Ada");
  ada.text();
  {
    WebSocketClient ben = open("/socket?name=Ben");
    ben.text();
    EXPECT_EQ(names(), "Ada Ben ");
    ben.wire().reset();
  }
  worker_->turn_until([&] { return names() == "Ada "; });
}

TEST_P(TopicDelivery, EventsOfASlowClientAreCutOff) {
  serve({.max_waiting = 3, .slow_subscriber = SlowSubscriber::Close});
  Client slow = worker_->connect();
  slow.send(get("/events"));
  std::string read;
  read_to(slow, read, "id: ");
  Client quick = worker_->connect();
  quick.send(get("/events"));
  std::string all;
  read_to(quick, all, "id: ");
  const std::string text(300'000, 'x');
  for (int i = 0; i < 100 && topics_->counters().subscriptions == 2; ++i) {
    const std::string id = publish(text);
    read_to(quick, all, id + "\ndata: " + text);
  }
  EXPECT_EQ(topics_->counters().subscriptions, 1U) << "no time has passed";
  EXPECT_EQ(worker_->counters().refused_slow, 1U);
}

TEST_P(TopicDelivery, TheirEndEndsAll) {
  serve({.history = 1});
  const std::string first = publish("first");
  Client poll = worker_->connect();
  poll.send(get("/poll?after=" + first));
  WebSocketClient socket = open("/socket");
  socket.text();
  Client events = worker_->connect();
  events.send(get("/events"));
  std::string read;
  read_to(events, read, "id: ");
  topics_->close();
  worker_->turn_until_readable(poll);
  const auto answer = poll.answer();
  ASSERT_TRUE(answer);
  EXPECT_NE(answer->body.find(R"("messages":[])"), std::string::npos);
  EXPECT_EQ(socket.text(), "<close 1001 >");
  worker_->turn_until([&] { return events.is_readable(); });
}

// Several threads publish, subscribers live on several threads: all see one order.
TEST_P(TopicDelivery, AllSeeOneOrder) {
  constexpr int publishers = 3;
  constexpr int messages = 200;
  Topics topics({.history = publishers * messages});
  Router router;
  router.websocket("/socket", [&topics](WebSocket& socket) -> Task<> {
    Scope scope;
    scope.spawn(topics.forward(socket, "news"));
    while (co_await socket.receive()) continue;
  });
  TestServer server(router, GetParam(), {.threads = 2});
  std::vector<WebSocketClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(server.connect());
    clients.back().open(handshake("/socket"));
    clients.back().text();
  }
  std::vector<std::thread> threads;
  for (int publisher = 0; publisher < publishers; ++publisher) {
    threads.emplace_back([&topics, publisher] {
      for (int i = 0; i < messages; ++i) {
        topics.post("news", std::to_string(publisher) + "." + std::to_string(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> order;
  for (int i = 0; i < publishers * messages; ++i) order.push_back(clients.front().text());
  for (std::size_t k = 1; k < clients.size(); ++k) {
    for (const std::string& text : order) ASSERT_EQ(clients[k].text(), text);
  }
  std::vector<int> next(publishers, 0);
  for (const std::string& text : order) {
    const std::size_t at = text.find(R"("text":")") + 8;
    const auto publisher = static_cast<std::size_t>(text[at] - '0');
    EXPECT_EQ(text.substr(at + 2), std::to_string(next[publisher]++) + "\"}");
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TopicDelivery, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
