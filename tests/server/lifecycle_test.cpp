// SPDX-License-Identifier: MIT
// Start, several threads, caps, shortage, drain and cancel, over real sockets on every back end.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;

Router hello() {
  Router router;
  router.get("/", [] { return "hello"; });
  return router;
}

class Lifecycle : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Router router_ = hello();
};

TEST_P(Lifecycle, APortThatIsTakenIsAnError) {
  const TestServer first(router_, GetParam(), {.threads = 2});
  Server second(router_,
                {.host = "127.0.0.1", .port = first.port(), .threads = 2, .backend = GetParam()});
  const Result<void, Problem> started = second.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), Errc::AddressInUse);
}

TEST_P(Lifecycle, AServerNameThatWouldEndItsLineIsRefused) {
  EXPECT_THROW(Server(router_, {.backend = GetParam(), .server_name = "a\r\nX: y"}),
               std::invalid_argument);
}

TEST_P(Lifecycle, ListensOnAUnixSocketWithSeveralThreads) {
  const std::string path = ::testing::TempDir() + "skua-" + std::to_string(::getpid()) + "-" +
                           std::to_string(static_cast<int>(GetParam()));
  Server server(router_, {.host = "unix:" + path, .threads = 2, .backend = GetParam()});
  ASSERT_TRUE(server.start());
  const Address address = Address::unix_path(path).value();
  for (int i = 0; i < 4; ++i) {
    Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(socket.descriptor(), address.data(), address.size_bytes()), 0);
    Client client(std::move(socket));
    client.send(get("/"));
    EXPECT_EQ(client.answer()->body, "hello");
  }
  server.shutdown();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_P(Lifecycle, SeveralThreadsServeTogether) {
  TestServer server(router_, GetParam(), {.threads = 3});
  std::vector<Client> clients;
  for (int i = 0; i < 30; ++i) clients.push_back(server.connect());
  for (Client& client : clients) client.send(get("/"));
  for (Client& client : clients) EXPECT_EQ(client.answer()->body, "hello");
  EXPECT_EQ(server->counters().connections_open, 30U);
  EXPECT_EQ(server->counters().requests, 30U);
}

TEST_P(Lifecycle, DrainingClosesIdleConnectionsAndThePort) {
  TestServer server(router_, GetParam());
  Client idle = server.connect();
  idle.send(get("/"));
  ASSERT_EQ(idle.answer()->status, 200);
  server->shutdown();
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(server->counters().connections_open, 0U);
  server->shutdown();  // idempotent
}

// A request that was sent before the drain is answered, even if it has not been read yet.
TEST_P(Lifecycle, DrainingAnswersWhatWasReceived) {
  std::promise<void> entered;
  std::promise<void> leave;
  Router router;
  router.get("/slow", [&] {
    entered.set_value();
    leave.get_future().wait();
    return "done";
  });
  router.get("/", [] { return "hello"; });
  TestServer server(router, GetParam());
  Client slow = server.connect();
  Client waiting = server.connect();
  slow.send(get("/slow") + get("/"));
  entered.get_future().wait();
  waiting.send(get("/"));  // stays in the kernel: the only thread is busy
  std::thread drainer([&] { server->shutdown(); });
  leave.set_value();
  EXPECT_EQ(slow.answer()->body, "done");
  const auto last = waiting.answer();
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->body, "hello");
  drainer.join();
}

TEST_P(Lifecycle, CancellingEndsAtOnce) {
  TestServer server(router_, GetParam());
  Client unfinished = server.connect();
  unfinished.send("GET / HT");
  Client idle = server.connect();
  idle.send(get("/"));
  ASSERT_EQ(idle.answer()->status, 200);
  server->shutdown(Duration(0));
  EXPECT_EQ(server->counters().connections_open, 0U);
}

TEST_P(Lifecycle, AcceptsAgainWhenAConnectionBelowTheCapGoes) {
  ServerOptions options;
  options.limits.connections = 2;
  TestServer server(router_, GetParam(), options);
  std::vector<Client> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(server.connect());
    clients.back().send(get("/"));
    ASSERT_EQ(clients.back().answer()->status, 200);
  }
  Client third(server.port());  // waits in the backlog
  clients.pop_back();
  third.send(get("/"));
  EXPECT_EQ(third.answer()->status, 200);
  EXPECT_GE(server->counters().accept_pauses, 1U);
}

TEST_P(Lifecycle, HooksSeeConnectionsAndResponses) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: an invalid request line";
  std::mutex mutex;
  std::vector<std::string> seen;
  ServerOptions options;
  options.hooks.on_connection_open = [&](std::string_view) {
    const std::lock_guard lock(mutex);
    seen.emplace_back("open");
  };
  options.hooks.on_response = [&](const RequestRecord& record) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::string(record.target) + " " + std::to_string(code(record.status)));
  };
  options.hooks.on_connection_close = [&] {
    const std::lock_guard lock(mutex);
    seen.emplace_back("close");
  };
  {
    TestServer server(router_, GetParam(), options);
    Client client = server.connect();
    client.send(get("/?a=b") + "nonsense\r\n\r\n");
    EXPECT_EQ(client.answer()->status, 200);
    EXPECT_EQ(client.answer()->status, 400);
    client.rest();
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"open", "/?a=b 200", " 400", "close"}));
}

TEST_P(Lifecycle, HooksSeeWhatARefusedRequestAskedFor) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: chunks that are malformed";
  router_.post("/plain", [](const Request&) { return "plain"; });
  router_.post("/waits", [](Request& request) -> Task<std::string> {
    std::string text = co_await request.text();
    co_return text;
  });
  std::mutex mutex;
  std::vector<std::string> seen;
  ServerOptions options;
  options.hooks.on_response = [&](const RequestRecord& record) {
    const std::lock_guard lock(mutex);
    seen.push_back(std::string(record.method_name) + " " + std::string(record.target) + " " +
                   std::to_string(code(record.status)));
    EXPECT_NE(record.error, Errc::None);
  };
  {
    TestServer server(router_, GetParam(), options);
    for (const std::string_view request :
         {"POST /plain HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999\r\n\r\n",
          "POST /plain HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
          "POST /waits HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
          "PUT /no-host HTTP/1.1\r\n\r\n", "delete /lower HTTP/1.1\r\nHost: t\r\n\r\n",
          "PUT /a\"b HTTP/1.1\r\nHost: t\r\n\r\n", "PUT /field HTTP/1.1\r\nHost t\r\n\r\n",
          "REPORT /none HTTP/1.1\r\nHost: t\r\nX y\r\n\r\n", "\x16\x03\x01\x02 \r\n"}) {
      Client client = server.connect();
      client.send(request);
      client.rest();
    }
  }
  EXPECT_EQ(seen,
            (std::vector<std::string>{"POST /plain 413", "POST /plain 400", "POST /waits 400",
                                      "PUT /no-host 400", "delete /lower 501", "PUT /a\"b 400",
                                      "PUT /field 400", "REPORT /none 400", "GET  400"}));
}

TEST_P(Lifecycle, ARefusedHeadHasNoContent) {
  if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: chunks that are malformed";
  TestServer server(router_, GetParam());
  for (const std::string_view request :
       {"HEAD / HTTP/1.1\r\n\r\n",
        "HEAD / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n"}) {
    Client client = server.connect();
    client.send(request);
    const std::string all = client.rest();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 400 ")) << all;
    EXPECT_TRUE(all.ends_with("\r\n\r\n")) << all;
  }
}

TEST_P(Lifecycle, AProgramActsBetweenListeningAndTheThreads) {
  Server server(router_, {.host = "127.0.0.1", .port = 0, .threads = 2, .backend = GetParam()});
  std::uint16_t port = 0;
  std::optional<Client> early;
  ASSERT_TRUE(server.start([&]() -> Result<void, Problem> {
    port = server.port();
    early.emplace(port, testing::Transport::Tcp);
    early->send(get("/"));
    EXPECT_EQ(server.start().error().code(), Errc::AlreadyStarted);
    return {};
  }));
  EXPECT_NE(port, 0);
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(early->answer()->body, "hello");  // it has waited in the system's queue
}

TEST_P(Lifecycle, AProgramMayGiveUpAStart) {
  const std::string path = ::testing::TempDir() + "skua-start-" + std::to_string(::getpid()) + "-" +
                           std::to_string(static_cast<int>(GetParam()));
  Server server(router_, {.host = "unix:" + path, .threads = 2, .backend = GetParam()});
  const auto fail = [&path]() -> Result<void, Problem> {
    EXPECT_EQ(::access(path.c_str(), F_OK), 0);
    return Problem{Error(Errc::PermissionDenied), "no such user"};
  };
  const auto stop = [&server]() -> Result<void, Problem> {
    server.shutdown();
    return {};
  };
  const auto throw_text = []() -> Result<void, Problem> { throw std::runtime_error("thrown"); };
  const auto throw_number = []() -> Result<void, Problem> { throw 1; };
  const std::pair<std::function<Result<void, Problem>()>, std::string> cases[] = {
      {fail, "no such user"},
      {stop, Error(Errc::Cancelled, "start").message()},
      {throw_text, "thrown"},
      {throw_number, "an exception of unknown type"}};
  for (const auto& [before_threads, text] : cases) {
    const Result<void, Problem> started = server.start(before_threads);
    ASSERT_FALSE(started) << text;
    EXPECT_EQ(started.error().text, text);
    EXPECT_EQ(server.state(), ServerState::New);
    EXPECT_NE(::access(path.c_str(), F_OK), 0) << "the socket is left";
  }
  EXPECT_TRUE(server.start());
}

INSTANTIATE_TEST_SUITE_P(Backends, Lifecycle, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
