// SPDX-License-Identifier: MIT
// Counts what requests and idle connections cost.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

#include "skua.hpp"
#include "support/allocations.hpp"
#include "support/test_worker.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestWorker;

Router hello() {
  Router router;
  router.get("/", [] { return "Hello, World!"; });
  router.get("/json", [] { return Response::json(R"({"message":"Hello, World!"})"); });
  router.get("/users/{id}", [](const Request& request, int) {
    return Response(Status::Ok, request.header("host").value_or("")).header("X-Seen", "yes");
  });
  router.get("/wait", []() -> Task<Response> {
    co_await sleep(Duration(0));
    co_return Response("Hello, World!");
  });
  router.get("/state", [](Request& request) {
    ++request.connection().state<int>();
    return "Hello, World!";
  });
  router.get("/prepared", PreparedResponse(Response::html("<p>Hello, World!</p>")));
  router.websocket("/socket",
                   WebSocketCallbacks{.message = [](WebSocket& socket, const Message& message) {
                     static_cast<void>(socket.send(message.text));
                   }});
  router.websocket("/topic", WebSocketCallbacks{.open = [](WebSocket& socket, Request&) {
                     socket.subscribe("all");
                   }});
  router.websocket("/publish",
                   WebSocketCallbacks{.message = [](WebSocket& socket, const Message& message) {
                     socket.publish("all", message.text);
                   }});
  return router;
}

class Budget : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    if (testing::transport() != testing::Transport::Tcp) GTEST_SKIP() << "counts HTTP/1 over TCP";
  }
  /// Sends, and receives the answer. Returns the memory that this costs the client.
  std::int64_t ask(Client& client, std::string_view request) {
    client.send(request);
    worker_.turn_until_readable(client);
    const std::int64_t before = testing::allocations().live_bytes;
    EXPECT_TRUE(client.answer());
    return testing::allocations().live_bytes - before;
  }
  /// Returns the memory that the worker owns for each of many clients once they were served.
  template <class Serve>
  std::int64_t cost_of_each(std::size_t count, const Serve& serve) {
    std::vector<Client> clients;
    clients.reserve(count);
    Client first = worker_.connect();
    serve(first);
    worker_.settle();
    const std::int64_t before = testing::allocations().live_bytes;
    std::int64_t clients_bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(worker_.connect());
      clients_bytes += serve(clients.back());
    }
    worker_.settle();
    const std::int64_t grown = testing::allocations().live_bytes - before - clients_bytes;
    return grown / static_cast<std::int64_t>(count);
  }

  /// The share of a descriptor in the tables of poll(2), which grow by doubling.
  static std::int64_t table_bytes() { return GetParam() == BackendChoice::Poll ? 32 : 0; }

  Router router_ = hello();
  TestWorker worker_{router_, GetParam()};
};

TEST_P(Budget, AKeepAliveRequestAllocatesNothing) {
  Client client = worker_.connect();
  for (const std::string path : {"/", "/json", "/users/7", "/prepared", "/state", "/nowhere"}) {
    const std::string request = get(path, "User-Agent: test\r\nAccept: */*\r\nCookie: a=b\r\n");
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(worker_.ask(client, request));
    std::uint64_t allocated = 0;
    for (int i = 0; i < 100; ++i) {
      client.send(request);
      const std::uint64_t before = testing::allocations().count;
      worker_.turn_until_readable(client);
      worker_.settle();
      allocated += testing::allocations().count - before;
      ASSERT_TRUE(client.answer());
    }
    EXPECT_EQ(allocated, 0U) << path;
  }
}

// One allocation for the handler's coroutine frame, one for that of the task it awaits.
TEST_P(Budget, AHandlerThatWaitsOnceAllocatesTwice) {
  Client client = worker_.connect();
  const std::string request = get("/wait", "User-Agent: test\r\nAccept: */*\r\n");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(worker_.ask(client, request));
  std::uint64_t allocated = 0;
  for (int i = 0; i < 100; ++i) {
    client.send(request);
    const std::uint64_t before = testing::allocations().count;
    worker_.turn_until_readable(client);
    worker_.settle();
    allocated += testing::allocations().count - before;
    ASSERT_TRUE(client.answer());
  }
  EXPECT_LE(allocated, 200U);
}

TEST_P(Budget, AnIdleConnectionOwnsLittleMemory) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  // poll(2) scans every descriptor in every turn, and the emulation of kqueue does, so use fewer.
  const bool scans = GetParam() == BackendChoice::Poll || GetParam() == BackendChoice::Kqueue;
  const std::size_t wanted = scans ? 1'000 : 10'000;
  const std::size_t count = std::min<std::size_t>(wanted, (files.rlim_max - 200) / 2);
  const std::int64_t each =
      cost_of_each(count, [&](Client& client) { return ask(client, get("/")); });
  RecordProperty("bytes_per_idle_connection", std::to_string(each));
  RecordProperty("connections", std::to_string(count));
  EXPECT_LE(each, 256 + table_bytes()) << "of " << count << " connections";
  EXPECT_GT(each, 0);
}

TEST_P(Budget, AnIdleWebSocketOwnsLittleMemory) {
  const std::int64_t each = cost_of_each(450, [&](Client& client) {
    const std::int64_t bytes = ask(client, testing::handshake("/socket"));
    client.send(testing::client_frame(ws::Opcode::Text, "hello"));
    worker_.turn_until_readable(client);
    return bytes;
  });
  RecordProperty("bytes_per_idle_websocket", std::to_string(each));
  EXPECT_LE(each, 384 + table_bytes());
  EXPECT_GT(each, 256);
}

TEST_P(Budget, APublicationAllocatesNothingForASubscriber) {
  std::vector<Client> subscribers;
  for (int i = 0; i < 300; ++i) {
    subscribers.push_back(worker_.connect());
    ask(subscribers.back(), testing::handshake("/topic"));
  }
  Client publisher = worker_.connect();
  ask(publisher, testing::handshake("/publish"));
  const auto publish = [&] {
    publisher.send(testing::client_frame(ws::Opcode::Text, std::string(100, 'p')));
    const std::uint64_t before = testing::allocations().count;
    for (Client& subscriber : subscribers) worker_.turn_until_readable(subscriber);
    const std::uint64_t allocated = testing::allocations().count - before;
    for (Client& subscriber : subscribers) EXPECT_EQ(subscriber.some().size(), 102U);
    return allocated;
  };
  publish();
  EXPECT_LE(publish(), 4U);
}

TEST_P(Budget, ARequestCostsAReceiveAndASend) {
  if (GetParam() == BackendChoice::IoUring) {
    Client client = worker_.connect();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(worker_.ask(client, get("/")));
    const Counters before = worker_.counters();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(worker_.ask(client, get("/")));
    const Counters after = worker_.counters();
    EXPECT_EQ(after.receive_calls - before.receive_calls, 0U);
    EXPECT_EQ(after.send_calls - before.send_calls, 0U);
    return;
  }
  std::vector<Client> clients;
  for (int i = 0; i < 64; ++i) clients.push_back(worker_.connect());
  const auto round = [&] {
    for (Client& client : clients) client.send(get("/"));
    for (Client& client : clients) {
      worker_.turn_until_readable(client);
      ASSERT_TRUE(client.answer());
    }
  };
  round();
  const Counters before = worker_.counters();
  for (int i = 0; i < 10; ++i) round();
  const Counters after = worker_.counters();
  EXPECT_EQ(after.requests - before.requests, 640U);
  EXPECT_EQ(after.receive_calls - before.receive_calls, 640U);
  EXPECT_EQ(after.send_calls - before.send_calls, 640U);
  EXPECT_EQ(after.other_calls - before.other_calls, 0U);
  EXPECT_LE(after.wait_calls - before.wait_calls, 20U);
}

INSTANTIATE_TEST_SUITE_P(Backends, Budget, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
