// SPDX-License-Identifier: MIT
// A hand-over from one server to another, in this process: on every back end, over every transport.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
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

constexpr auto patience = std::chrono::seconds(60);

class HandOver : public ::testing::TestWithParam<BackendChoice> {
 protected:
  HandOver() {
    old_router_.get("/", [] { return "old"; });
    new_router_.get("/", [] { return "new"; });
  }
  ServerOptions options(unsigned threads) const {
    ServerOptions made{.host = "127.0.0.1", .port = 0, .threads = threads, .backend = GetParam()};
    made.tls.self_signed = testing::is_secure();
    made.timeouts.drain_grace = 20s;
    return made;
  }
  /// The other process is a server in this one.
  ServiceOptions to_new_server(unsigned threads) {
    return {
        .hand_over = true,
        .start_successor =
            [this, threads](const std::vector<ListeningSocket>& sockets) -> Result<int, Problem> {
          count_ = sockets.size();
          ServerOptions made = options(threads);
          made.listeners = sockets;
          if (auto started = new_.emplace(new_router_, made).start(); !started) {
            return std::move(started).error();
          }
          return 4711;
        },
        .log = [this](LogLevel, std::string_view text) { log_.append(text).append("\n"); }};
  }
  static std::string ask(std::uint16_t port) {
    Client client(port);
    client.send(get("/"));
    const auto answer = client.answer();
    return answer ? answer->body : "no answer";
  }

  Router old_router_;
  Router new_router_;
  std::optional<Server> new_;
  std::size_t count_ = 0;
  std::string log_;
};

TEST_P(HandOver, LeavesAllSocketsToTheNewServer) {
  for (const auto& [before, after] : {std::pair(1U, 3U), std::pair(3U, 1U), std::pair(2U, 2U)}) {
    Service service(to_new_server(after));
    const ShutdownSignals signals;
    Server old(old_router_, options(before));
    ASSERT_TRUE(old.start());
    const std::uint16_t port = old.port();
    auto ended = std::async(std::launch::async, [&] { signals.wait_and_drain(old, service); });
    std::optional<Client> kept(port);
    kept->send(get("/"));
    EXPECT_EQ(kept->answer()->body, "old");
    ::kill(::getpid(), SIGUSR2);
    while (old.state() == ServerState::Running) std::this_thread::yield();
    EXPECT_EQ(count_, before);
    EXPECT_EQ(new_->port(), port);
    EXPECT_EQ(new_->urls().size(), 1U) << "one address, however many sockets";
    kept->send(get("/"));  // within the grace period
    EXPECT_EQ(kept->answer()->body, "old");
    kept.reset();
    // The old threads hear of it one after the other; until then, they answer.
    for (int in_a_row = 0; in_a_row < 10;) {
      const std::string answer = ask(port);
      ASSERT_NE(answer, "no answer");
      in_a_row = answer == "new" ? in_a_row + 1 : 0;
    }
    EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(log_, "handed over to process 4711\n");
    log_.clear();
    new_.reset();
  }
}

/// A service that has nothing to reload.
class Reloads final : public ServiceEvents {
 public:
  int on_serving(Servers) override { return 0; }
  void on_reload() override {}
  void on_reloaded() override { reloaded.set_value(); }
  bool on_other_signal() override { return false; }
  void on_drain() override { ++drains; }
  void on_end() override {}

  std::promise<void> reloaded;
  std::atomic<int> drains{0};
};

TEST_P(HandOver, AReloadEndsNothing) {
  Reloads service;
  const ShutdownSignals signals;
  Server server(old_router_, options(1));
  ASSERT_TRUE(server.start());
  auto ended = std::async(std::launch::async, [&] { signals.wait_and_drain(server, service); });
  ::kill(::getpid(), SIGHUP);
  ASSERT_EQ(service.reloaded.get_future().wait_for(patience), std::future_status::ready);
  EXPECT_EQ(service.drains, 0);
  EXPECT_EQ(ask(server.port()), "old");
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(service.drains, 1);
}

TEST_P(HandOver, LosesNoConnection) {
  Service service(to_new_server(2));
  const ShutdownSignals signals;
  Server old(old_router_, options(2));
  ASSERT_TRUE(old.start());
  const std::uint16_t port = old.port();
  auto ended = std::async(std::launch::async, [&] { signals.wait_and_drain(old, service); });
  std::atomic<bool> is_over{false};
  std::atomic<std::size_t> of_old{0};
  std::atomic<std::size_t> of_new{0};
  std::atomic<std::size_t> failures{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!is_over) {
        const std::string body = ask(port);
        ++(body == "old" ? of_old : body == "new" ? of_new : failures);
      }
    });
  }
  while (of_old < 20 && failures == 0) std::this_thread::yield();
  ::kill(::getpid(), SIGUSR2);
  ended.wait();
  const std::size_t before = of_new;
  while (of_new < before + 20 && failures == 0) std::this_thread::yield();
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failures.load(), 0U);
}

// names: service.hand_over service.serve
TEST_P(HandOver, ThatFailsChangesNothing) {
  ServiceOptions failing{.hand_over = true,
                         .start_successor = [](const auto&) -> Result<int, Problem> {
                           return Problem{Error(Errc::SystemFailure), "it ended with exit code 3"};
                         },
                         .log =
                             [this](LogLevel level, std::string_view text) {
                               if (level == LogLevel::Error) log_.append(text).append("\n");
                             }};
  Service service(failing);
  const ShutdownSignals signals;
  Server server(old_router_, options(2));
  ASSERT_TRUE(server.start());
  auto ended = std::async(std::launch::async, [&] { signals.wait_and_drain(server, service); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(service.hand_over({server}).error().text, "it ended with exit code 3");
    EXPECT_EQ(ask(server.port()), "old");
    EXPECT_TRUE(server.is_ready());
  }
  ::kill(::getpid(), SIGUSR2);
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(log_, "not handed over: it ended with exit code 3\n");
  EXPECT_EQ(service.hand_over({server}).error().text, "the servers do not listen");
  ServerOptions elsewhere = options(1);
  elsewhere.host = "192.0.2.1";
  const auto served = serve(old_router_, elsewhere, service);
  ASSERT_FALSE(served);
  EXPECT_NE(served.error().text.find("listen on 192.0.2.1"), std::string::npos);
}

TEST_P(HandOver, IncludesThePathOfAUnixSocket) {
  const std::string path = ::testing::TempDir() + "skua-hand-over-" + std::to_string(::getpid());
  Service service(to_new_server(2));
  ServerOptions on_path = options(2);
  on_path.host = "unix:" + path;
  {
    Server old(old_router_, on_path);
    ASSERT_TRUE(old.start());
    ASSERT_TRUE(service.hand_over({old}));
    EXPECT_EQ(count_, 1U);
    old.shutdown();
    EXPECT_EQ(::access(path.c_str(), F_OK), 0) << "of the new server now";
    EXPECT_EQ(new_->url(), "unix:" + path);
  }
  new_->shutdown();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST_P(HandOver, KeepsTheNamesOfSockets) {
  auto socket = TcpSocket::listen_on(Address::loopback(Address::Family::Ipv4, 0)).value();
  ServerOptions on_socket = options(2);
  on_socket.listeners = {{std::make_shared<Socket>(std::move(socket)), "web"}};
  Server server(old_router_, on_socket);
  EXPECT_TRUE(server.listening_sockets().empty());
  ASSERT_TRUE(server.start([&]() -> Result<void, Problem> {
    EXPECT_EQ(server.listening_sockets().size(), 1U) << "before there are threads";
    return {};
  }));
  const auto sockets = server.listening_sockets();
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_EQ(sockets[0].name, "web");
  EXPECT_FALSE(sockets[0].owns_path);
  server.shutdown();
  EXPECT_TRUE(server.listening_sockets().empty());
}

// A public server and one for operators, whose sockets travel in one list.
TEST_P(HandOver, GivesEachServerItsOwnSockets) {
  Router operators;
  operators.get("/", [] { return "operators"; });
  std::optional<Server> new_operators;
  ServiceOptions to_both = to_new_server(2);
  to_both.start_successor =
      [&](const std::vector<ListeningSocket>& sockets) -> Result<int, Problem> {
    std::vector<ListeningSocket> rest = sockets;
    ServerOptions for_operators = options(1);
    for_operators.listeners = take_named(rest, "admin");
    EXPECT_EQ(for_operators.listeners.size(), 1U);
    EXPECT_TRUE(take_named(rest, "admin").empty());
    ServerOptions for_all = options(2);
    for_all.listeners = rest;
    auto started = new_operators.emplace(operators, for_operators).start();
    if (started) started = new_.emplace(new_router_, for_all).start();
    if (!started) return std::move(started).error();
    return 4711;
  };
  Service service(to_both);
  Server admin(operators, options(1));
  EXPECT_THROW(service.name(admin, ""), std::invalid_argument);
  EXPECT_THROW(service.name(admin, "a:b"), std::invalid_argument);
  EXPECT_THROW(service.name(admin, "skua-own-a"), std::invalid_argument);
  Server server(old_router_, options(2));
  service.name(admin, "other");
  service.name(admin, "admin");
  ASSERT_TRUE(admin.start());
  ASSERT_TRUE(server.start());
  const std::uint16_t admin_port = admin.port();
  const std::uint16_t port = server.port();
  ASSERT_TRUE(service.hand_over({admin, server}));
  admin.shutdown();
  server.shutdown();
  EXPECT_EQ(new_operators->port(), admin_port);
  EXPECT_EQ(new_->port(), port);
  EXPECT_EQ(ask(admin_port), "operators");
  EXPECT_EQ(ask(port), "new");
}

TEST_P(HandOver, SkipsTheDrainDelay) {
  Service service(to_new_server(1));
  ServerOptions delayed = options(1);
  delayed.timeouts.drain_delay = std::chrono::hours(1);
  delayed.timeouts.drain_grace = 0s;
  Server old(old_router_, delayed);
  ASSERT_TRUE(old.start());
  ASSERT_TRUE(service.hand_over({old}));
  old.shutdown();
  EXPECT_EQ(old.state(), ServerState::Ended);
}

INSTANTIATE_TEST_SUITE_P(Backends, HandOver, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
