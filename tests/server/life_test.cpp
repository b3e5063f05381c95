// SPDX-License-Identifier: MIT
// The life of a server as a table: each call, in each state, on each kind of thread. No call may
// hang, and promised responses must arrive.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;

constexpr auto patience = std::chrono::seconds(60);

/// A one-shot signal between threads.
class Signal {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    is_given_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool await() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return is_given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_given_ = false;
};

enum class Where : std::uint8_t {
  Elsewhere,   // a thread outside the server
  Handler,     // a plain handler
  Coroutine,   // a coroutine handler that has waited
  Offload,     // a thread of the worker pool
  Hook,        // on_response
  Destructor,  // of an object that a handler holds
};

enum class Call : std::uint8_t { Start, Shutdown, ShutdownForEver, Cancel, Wait, Ask };

std::ostream& operator<<(std::ostream& out, Where where) {
  constexpr const char* names[] = {"Elsewhere", "Handler", "Coroutine",
                                   "Offload",   "Hook",    "Destructor"};
  return out << names[static_cast<unsigned>(where)];
}

std::ostream& operator<<(std::ostream& out, Call call) {
  constexpr const char* names[] = {"Start", "Shutdown", "ShutdownForEver", "Cancel", "Wait", "Ask"};
  return out << names[static_cast<unsigned>(call)];
}

void await_state(Server& server, ServerState state) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (server.state() != state && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(server.state(), state);
}

/// A server, and a call that is made on the chosen kind of thread when the test says so.
class Life {
 public:
  Life(BackendChoice backend, Where where) : where_(where) {
    router_.get("/", [] { return "hello"; });
    router_.get("/handler", [this] {
      act();
      return "done";
    });
    router_.get("/coroutine", [this]() -> Task<std::string> {
      co_await sleep(1ms);
      act();
      co_return "done";
    });
    router_.get("/offload", [this]() -> Task<std::string> {
      co_await offload([this] { act(); });
      co_return "done";
    });
    router_.get("/hook", [] { return "done"; });
    router_.get("/destructor", [this]() -> Task<std::string> {
      const std::shared_ptr<void> held(nullptr, [this](void*) { act(); });
      co_await sleep(1ms);
      co_return "done";
    });
    ServerOptions options;
    options.threads = 2;
    options.hooks.on_response = [this](const RequestRecord& record) {
      if (record.target == "/hook") act();
    };
    server_.emplace(router_, backend, std::move(options));
  }

  [[nodiscard]] Server& server() { return **server_; }
  [[nodiscard]] Client connect() { return server_->connect(); }

  /// Enters the thread that makes the call. The call itself waits for `go()`.
  void enter(std::function<void()> call) {
    call_ = std::move(call);
    if (where_ == Where::Elsewhere) {
      elsewhere_ = std::async(std::launch::async, [this] { act(); });
    } else {
      constexpr const char* paths[] = {"",         "/handler", "/coroutine",
                                       "/offload", "/hook",    "/destructor"};
      client_.emplace(connect());
      client_->send(get(paths[static_cast<unsigned>(where_)]));
    }
    EXPECT_TRUE(entered_.await());
  }
  void go() { go_.give(); }
  [[nodiscard]] bool is_made() { return made_.await(); }
  /// Returns the body of the client's response; nullopt without a client or a response.
  [[nodiscard]] std::optional<std::string> answer() {
    if (!client_) return std::nullopt;
    const auto got = client_->answer();
    client_.reset();
    return got ? std::optional(got->body) : std::nullopt;
  }

 private:
  void act() {
    entered_.give();
    if (!go_.await()) return;
    call_();
    made_.give();
  }

  const Where where_;
  std::function<void()> call_;
  Signal entered_;
  Signal go_;
  Signal made_;
  Router router_;
  std::optional<TestServer> server_;
  std::optional<Client> client_;
  std::future<void> elsewhere_;
};

using Case = std::tuple<BackendChoice, Where, Call>;

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::ostringstream name;
  name << testing::backend_name({std::get<0>(info.param), 0}) << std::get<1>(info.param)
       << std::get<2>(info.param);
  return name.str();
}

class LifeTable : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] Where where() const { return std::get<1>(GetParam()); }
  [[nodiscard]] Call call() const { return std::get<2>(GetParam()); }

  void make(Server& server) {
    switch (call()) {
      case Call::Start: {
        const Result<void, Problem> started = server.start();
        ASSERT_FALSE(started);
        EXPECT_EQ(started.error().code(), Errc::AlreadyStarted);
        break;
      }
      case Call::Shutdown: server.shutdown(); break;
      case Call::ShutdownForEver: server.shutdown(Duration::max()); break;
      case Call::Cancel: server.cancel(); break;
      case Call::Wait: server.wait(); break;
      case Call::Ask:
        EXPECT_NE(server.port(), 0);
        EXPECT_FALSE(server.url().empty());
        EXPECT_GE(server.counters().connections_accepted, 0U);
        server.publish("topic", "text");
        static_cast<void>(server.reload_tls());
        static_cast<void>(server.backend());
        break;
    }
  }

  static void expect_restarts(Life& life) {
    EXPECT_EQ(life.server().state(), ServerState::Ended);
    ASSERT_TRUE(life.server().start());
    EXPECT_EQ(life.server().state(), ServerState::Running);
    Client client = life.connect();
    client.send(get("/"));
    const auto answer = client.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "hello");
    life.server().shutdown();
    EXPECT_EQ(life.server().state(), ServerState::Ended);
  }
};

TEST_P(LifeTable, WhileItRuns) {
  Life life(std::get<0>(GetParam()), where());
  life.enter([&] { make(life.server()); });
  const bool waits = where() == Where::Elsewhere && call() == Call::Wait;
  life.go();
  if (!waits) {
    ASSERT_TRUE(life.is_made());
  }
  if (call() != Call::Cancel && where() != Where::Elsewhere) {
    EXPECT_EQ(life.answer(), "done");
  }
  const bool ends = call() == Call::Shutdown || call() == Call::ShutdownForEver;
  if (ends || call() == Call::Cancel) {
    life.server().wait();
  } else {
    EXPECT_EQ(life.server().state(), ServerState::Running);
    life.server().shutdown();
  }
  expect_restarts(life);
}

TEST_P(LifeTable, WhileItDrains) {
  if (where() == Where::Elsewhere) GTEST_SKIP() << "nothing keeps the server from ending";
  Life life(std::get<0>(GetParam()), where());
  life.enter([&] { make(life.server()); });
  auto drained = std::async(std::launch::async, [&] { life.server().shutdown(Duration::max()); });
  await_state(life.server(), ServerState::Draining);
  life.go();
  ASSERT_TRUE(life.is_made());
  if (call() != Call::Cancel) {
    EXPECT_EQ(life.answer(), "done");
  }
  ASSERT_EQ(drained.wait_for(patience), std::future_status::ready);
  expect_restarts(life);
}

INSTANTIATE_TEST_SUITE_P(
    All, LifeTable,
    ::testing::Combine(::testing::ValuesIn(testing::backends()),
                       ::testing::Values(Where::Elsewhere, Where::Handler, Where::Coroutine,
                                         Where::Offload, Where::Hook, Where::Destructor),
                       ::testing::Values(Call::Start, Call::Shutdown, Call::ShutdownForEver,
                                         Call::Cancel, Call::Wait, Call::Ask)),
    case_name);

class ServerLife : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router router_ = [] {
    Router router;
    router.get("/", [] { return "hello"; });
    return router;
  }();
};

TEST_P(ServerLife, EveryCallIsHarmlessBeforeTheStart) {
  Server server(router_, {.host = "127.0.0.1", .port = 0, .backend = GetParam()});
  EXPECT_EQ(server.state(), ServerState::New);
  server.shutdown();
  server.shutdown(Duration::max());
  server.cancel();
  server.wait();
  server.publish("topic", "text");
  EXPECT_FALSE(server.reload_tls());
  EXPECT_EQ(server.port(), 0);
  EXPECT_EQ(server.counters().requests, 0U);
  EXPECT_EQ(server.state(), ServerState::New);
  EXPECT_TRUE(server.start());
}

TEST_P(ServerLife, RestartsAsOftenAsWanted) {
  TestServer server(router_, GetParam(), {.threads = 2});
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Client client = server.connect();
    client.send(get("/"));
    EXPECT_EQ(client.answer()->body, "hello");
    EXPECT_EQ(server->counters().requests, round);
    server->shutdown();
    EXPECT_EQ(server->counters().connections_open, 0U);
    server->shutdown();
    server->cancel();
    server->wait();
    EXPECT_EQ(server->state(), ServerState::Ended);
    ASSERT_TRUE(server->start());
  }
}

TEST_P(ServerLife, ARestartThatFailsLeavesItEnded) {
  TestServer other(router_, GetParam());
  Server server(router_,
                {.host = "127.0.0.1", .port = other.port(), .threads = 1, .backend = GetParam()});
  for (int i = 0; i < 2; ++i) {
    const Result<void, Problem> started = server.start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code(), Errc::AddressInUse);
    EXPECT_EQ(server.state(), ServerState::New);
  }
  other->shutdown();
  EXPECT_TRUE(server.start());
}

TEST_P(ServerLife, OneOfManyStartsWins) {
  Server server(router_, {.host = "127.0.0.1", .port = 0, .threads = 2, .backend = GetParam()});
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Result<void, Problem> result = server.start();
      if (result) ++started;
      if (!result) {
        EXPECT_EQ(result.error().code(), Errc::AlreadyStarted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(started, 1);
  EXPECT_EQ(server.state(), ServerState::Running);
}

TEST_P(ServerLife, ADrainWithoutDeadlineWaitsForRequestsInProgress) {
  Signal entered;
  std::optional<Answer> late_answer;
  router_.get("/slow", [&](Request&) {
    LateAnswer late;
    late_answer.emplace(late.answer());
    entered.give();
    return late;
  });
  ServerOptions options;
  options.timeouts.shutdown = Duration::max();
  TestServer server(router_, GetParam(), options);
  {
    Client slow = server.connect();
    slow.send(get("/slow"));
    ASSERT_TRUE(entered.await());
    auto drained = std::async(std::launch::async, [&] { server->shutdown(); });
    await_state(*server, ServerState::Draining);
    server->publish("topic", "text");  // reaches the loop after the drain
    late_answer->send("done");
    const auto answer = slow.answer();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "done");
    slow.end();
    EXPECT_EQ(drained.wait_for(patience), std::future_status::ready);
  }
}

TEST_P(ServerLife, TheEarlierOfTwoDeadlinesHolds) {
  Signal entered;
  router_.get("/never", [&]() -> Task<std::string> {
    entered.give();
    Event never;
    co_await never.wait();
    co_return "never";
  });
  TestServer server(router_, GetParam());
  Client client = server.connect();
  client.send(get("/never"));
  ASSERT_TRUE(entered.await());
  auto drained = std::async(std::launch::async, [&] { server->shutdown(Duration::max()); });
  await_state(*server, ServerState::Draining);
  server->shutdown(1ms);
  EXPECT_EQ(drained.wait_for(patience), std::future_status::ready);
  EXPECT_FALSE(client.answer());
}

// Captures of a hook are destroyed when the server's last thread ends.
TEST_P(ServerLife, MayBeDroppedByItsOwnHandler) {
  auto gone = std::make_shared<std::promise<void>>();
  std::future<void> is_gone = gone->get_future();
  std::shared_ptr<void> last(nullptr, [gone](void*) { gone->set_value(); });
  std::unique_ptr<Server> server;
  Signal connected;
  const bool offloads = GetParam() == BackendChoice::Epoll;
  router_.get("/drop", [&](Request&) -> Task<std::string> {
    EXPECT_TRUE(connected.await());
    if (offloads) {
      co_await offload([&] { server.reset(); });
    } else {
      server.reset();
    }
    co_return "dropped";
  });
  ServerOptions options{.host = "127.0.0.1", .port = 0, .threads = 2, .backend = GetParam()};
  options.tls.self_signed = testing::is_secure();
  options.hooks.on_connection_close = [last] {};
  server = std::make_unique<Server>(router_, std::move(options));
  last.reset();
  ASSERT_TRUE(server->start());
  Client client(server->port());
  connected.give();
  client.send(get("/drop"));
  EXPECT_EQ(is_gone.wait_for(patience), std::future_status::ready);
}

TEST_P(ServerLife, AHookMayEndWhatIsBeingStarted) {
  if (!testing::is_secure()) GTEST_SKIP() << "TLS only: a hook that is called by start()";
  std::unique_ptr<Server> server;
  ServerOptions options{.host = "127.0.0.1", .port = 0, .threads = 1, .backend = GetParam()};
  options.tls.self_signed = true;
  int calls = 0;
  options.hooks.log = [&](LogLevel, std::string_view) {
    ++calls;
    EXPECT_FALSE(server->start());
    server->wait();
    server->shutdown();
  };
  server = std::make_unique<Server>(router_, std::move(options));
  const Result<void, Problem> started = server->start();
  if (calls != 0) {
    EXPECT_EQ(started.error().code(), Errc::Cancelled);
  }
}

TEST_P(ServerLife, WaitEndsWithTheServerWhoeverEndsIt) {
  std::unique_ptr<TestServer> server;
  Signal made;
  router_.post("/stop", [&] {
    EXPECT_TRUE(made.await());
    server->operator*().shutdown();
    return "stopping";
  });
  server = std::make_unique<TestServer>(router_, GetParam(), ServerOptions{.threads = 2});
  made.give();
  auto ended = std::async(std::launch::async, [&] { (**server).wait(); });
  Client client = server->connect();
  client.send("POST /stop HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "stopping");
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
  EXPECT_EQ((**server).state(), ServerState::Ended);
}

TEST_P(ServerLife, AHookThatThrowsEndsNothing) {
  std::atomic<int> told{0};
  ServerOptions options;
  options.hooks.on_connection_open = [](std::string_view) { throw std::runtime_error("open"); };
  options.hooks.on_connection_close = [] { throw 1; };
  options.hooks.on_response = [](const RequestRecord&) { throw std::runtime_error("response"); };
  options.hooks.log = [&](LogLevel, std::string_view) {
    ++told;
    throw std::runtime_error("log");
  };
  {
    TestServer server(router_, GetParam(), options);
    Client client = server.connect();
    client.send(get("/"));
    EXPECT_EQ(client.answer()->body, "hello");
    server->shutdown();
  }
  EXPECT_GE(told, 3);
}

TEST_P(ServerLife, SignalsAreNotAwaitedOnceTheServerHasEnded) {
  const ShutdownSignals signals;
  std::atomic<Server*> stopped{nullptr};
  router_.get("/stop", [&] {
    stopped.load()->shutdown();
    return "stopping";
  });
  TestServer server(router_, GetParam());
  stopped = &*server;
  auto ended = std::async(std::launch::async, [&] { signals.wait_and_drain(*server); });
  Client client = server.connect();
  client.send(get("/stop"));
  EXPECT_EQ(client.answer()->body, "stopping");
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
}

INSTANTIATE_TEST_SUITE_P(Backends, ServerLife, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
