// SPDX-License-Identifier: MIT
// The connection of a request: its facts, and the state that handlers keep with it. On every back
// end, over every transport.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;

/// Counts its objects, and notes the threads that destroy them.
struct Visits {
  static inline std::atomic<int> alive{0};
  static inline std::atomic<int> made{0};
  static inline std::atomic<bool> is_thread_wrong{false};

  Visits() {
    ++alive;
    ++made;
  }
  Visits(const Visits&) = delete;
  Visits& operator=(const Visits&) = delete;
  ~Visits() {
    if (std::this_thread::get_id() != thread) is_thread_wrong = true;
    --alive;
  }

  std::thread::id thread = std::this_thread::get_id();
  int count = 0;
};

class ConnectionState : public ::testing::TestWithParam<BackendChoice> {
 protected:
  ConnectionState() {
    Visits::made = 0;
    Visits::is_thread_wrong = false;
    router_.get("/", [] { return "hello"; });
    router_.get("/visits", [](Request& request) {
      return std::to_string(++request.connection().state<Visits>().count);
    });
    router_.get("/waits", [](Request& request) -> Task<std::string> {
      co_await sleep(1ms);
      co_return std::to_string(++request.connection().state<Visits>().count);
    });
  }
  ~ConnectionState() override {
    EXPECT_EQ(Visits::alive.load(), 0);
    EXPECT_FALSE(Visits::is_thread_wrong.load());
  }
  static std::string ask(Client& client, std::string_view path) {
    client.send(get(path));
    const auto answer = client.answer();
    return answer ? answer->body : "no answer";
  }

  Router router_;
};

TEST_P(ConnectionState, IsTheSameForAllRequestsOfAConnection) {
  TestServer server(router_, GetParam(), {.threads = 2});
  {
    Client one = server.connect();
    Client other = server.connect();
    EXPECT_EQ(ask(one, "/visits"), "1");
    EXPECT_EQ(ask(one, "/waits"), "2");
    EXPECT_EQ(ask(other, "/visits"), "1");
    EXPECT_EQ(ask(one, "/visits"), "3");
    EXPECT_EQ(ask(other, "/visits"), "2");
    one.send(get("/waits") + get("/waits") + get("/visits"));  // HTTP/2: at the same time
    std::set<std::string> bodies;
    for (int i = 0; i < 3; ++i) bodies.insert(one.answer()->body);
    EXPECT_EQ(bodies, (std::set<std::string>{"4", "5", "6"}));
    EXPECT_EQ(Visits::alive.load(), 2);
  }
  while (Visits::alive.load() != 0) std::this_thread::yield();  // once the clients have closed
  EXPECT_EQ(Visits::made.load(), 2);
}

TEST_P(ConnectionState, EndsWhenTheServerDoes) {
  {
    TestServer server(router_, GetParam());
    Client client = server.connect();
    EXPECT_EQ(ask(client, "/visits"), "1");
    server->shutdown(Duration(0));
    EXPECT_EQ(Visits::alive.load(), 0);
  }
}

TEST_P(ConnectionState, OutlivesAHandlerThatIsDropped) {
  struct UsesState {
    ~UsesState() { ++visits.count; }
    Visits& visits;
  };
  router_.get("/stuck", [](Request& request) -> Task<std::string> {
    const UsesState uses{request.connection().state<Visits>()};
    co_await sleep(1h);
    co_return "never";
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  client.send(get("/stuck"));
  while (Visits::alive.load() == 0) std::this_thread::yield();
  client.reset();
  while (Visits::alive.load() != 0) std::this_thread::yield();
}

TEST_P(ConnectionState, IsNotKeptIfItsConstructorThrows) {
  struct Throwing {
    Throwing() { throw std::runtime_error("no"); }
  };
  router_.get("/throws", [](Request& request) -> Response {
    static_cast<void>(request.connection().state<Throwing>());
    return "made";
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  client.send(get("/throws"));
  EXPECT_EQ(client.answer()->status, 500);
  EXPECT_EQ(ask(client, "/visits"), "1");
}

TEST_P(ConnectionState, TellsWhoIsConnectedToWhat) {
  router_.get("/facts", [](Request& request) {
    const Connection& connection = request.connection();
    EXPECT_EQ(connection.peer_address().to_string(), request.peer());
    EXPECT_EQ(&connection, &request.connection());
    const TlsInfo* const tls = connection.tls();
    EXPECT_EQ(tls != nullptr, request.is_secure());
    const std::string suite = tls != nullptr ? tls->cipher : "no TLS";
    return std::to_string(connection.id()) + " " + connection.local_address().to_string() + " " +
           suite;
  });
  TestServer server(router_, GetParam());
  Client first = server.connect();
  Client second = server.connect();
  const std::string facts = ask(first, "/facts");
  const std::string place = " 127.0.0.1:" + std::to_string(server.port()) + " ";
  EXPECT_TRUE(facts.starts_with("1" + place)) << facts;
  EXPECT_TRUE(facts.ends_with(testing::is_secure() ? "_SHA256" : "no TLS") ||
              facts.ends_with("_SHA384"))
      << facts;
  EXPECT_TRUE(ask(second, "/facts").starts_with("2" + place));
  EXPECT_EQ(ask(first, "/facts"), facts);
}

TEST_P(ConnectionState, IsSeenByWebSockets) {
  router_.websocket("/socket", [](Request& request, WebSocket& socket) -> Task<> {
    Connection& connection = request.connection();
    while (auto message = co_await socket.receive()) {
      const std::string count = std::to_string(++connection.state<Visits>().count);
      socket.send(std::string(message->text) + count);
    }
    ++connection.state<Visits>().count;  // after the end, too
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  EXPECT_EQ(ask(client, "/visits"), "1");
  {
    testing::WebSocketClient socket(std::move(client));
    ASSERT_FALSE(socket.open(testing::handshake("/socket")).empty());
    socket.send("a");
    EXPECT_EQ(socket.text(), "a2");
    socket.send("b");
    EXPECT_EQ(socket.text(), "b3");
  }
  while (Visits::alive.load() != 0) std::this_thread::yield();
  EXPECT_EQ(Visits::made.load(), 1);
}

TEST(ConnectionOfAFakeRequest, KeepsState) {
  Visits::made = 0;
  testing::FakeRequest fake("GET /");
  EXPECT_EQ(fake.request().connection().id(), 0U);
  ++fake.request().connection().state<Visits>().count;
  EXPECT_EQ(fake.request().connection().attachments().find<Visits>()->count, 1);
  EXPECT_EQ(Visits::made.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, ConnectionState, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
