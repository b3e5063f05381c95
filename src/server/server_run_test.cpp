// SPDX-License-Identifier: MIT
#include "server/server_run.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "support/client.hpp"
#include "support/test_worker.hpp"

namespace skua::server {
namespace {

std::size_t cap(std::size_t open_files, std::size_t taken = 3, unsigned threads = 2) {
  ServerOptions options;
  options.threads = threads;
  return connection_cap(options, open_files, taken);
}

TEST(ConnectionCap, IsWhatWasWantedWhereFilesAreMany) {
  EXPECT_EQ(cap(std::numeric_limits<std::size_t>::max()), 65'536U);
  EXPECT_EQ(cap(1'048'576), 65'536U);
}

TEST(ConnectionCap, KeepsAReserveForFiles) {
  EXPECT_GE(cap(256), 200U);
  EXPECT_LE(cap(256), 230U);
  EXPECT_GE(cap(1024), 900U);
  EXPECT_LE(cap(1024), 960U);
  EXPECT_EQ(cap(20'000), 20'000U - 15U - 1266U);
}

TEST(ConnectionCap, CountsWhatTheProgramHasOpen) { EXPECT_EQ(cap(1024, 503), cap(1024) - 500); }

TEST(ConnectionCap, IsNothingWhereTheServerCouldNotEvenListen) {
  EXPECT_EQ(cap(12), 0U);
  EXPECT_EQ(cap(15), 0U);
  EXPECT_EQ(cap(16), 1U);
}

/// A server with three threads on a system that does not balance connections.
class HandOver : public ::testing::Test {
 protected:
  void start(const Limits& limits = {}, const Hooks& hooks = {}) {
    ServerOptions options{.host = "127.0.0.1", .port = 0, .threads = 3};
    options.limits = limits;
    options.hooks = hooks;
    setup_ = std::make_shared<ServerSetup>(router_, options);
    setup_->system_balances = false;
    run_ = ServerRun::create(setup_).value();
    ASSERT_TRUE(run_->start());
  }
  testing::Client connect() {
    return testing::Client(run_->addresses().front().port(), testing::Transport::Tcp);
  }
  Counters counters() const {
    Counters sum;
    run_->add_to(sum);
    return sum;
  }

  Router router_;
  std::shared_ptr<ServerSetup> setup_;
  std::shared_ptr<ServerRun> run_;
};

TEST_F(HandOver, GivesEachThreadItsTurn) {
  std::mutex mutex;
  std::map<std::thread::id, int> served;
  router_.get("/", [&] {
    const std::lock_guard lock(mutex);
    ++served[std::this_thread::get_id()];
    return "hello";
  });
  start();
  std::vector<testing::Client> clients;
  for (int i = 0; i < 12; ++i) clients.push_back(connect());
  for (testing::Client& client : clients) client.send(testing::get("/"));
  for (testing::Client& client : clients) EXPECT_EQ(client.answer()->body, "hello");
  run_->cancel();
  run_->wait();
  ASSERT_EQ(served.size(), 3U);
  for (const auto& [thread, count] : served) EXPECT_EQ(count, 4);
}

TEST_F(HandOver, CountsConnectionsOnTheirWay) {
  router_.get("/", [] { return "hello"; });
  std::atomic<int> open{0};
  std::atomic<int> most{0};
  Hooks hooks;
  hooks.on_connection_open = [&](std::string_view) {
    const int now = ++open;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
  };
  hooks.on_connection_close = [&] { --open; };
  start({.connections = 4}, hooks);
  std::vector<std::unique_ptr<testing::Client>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<testing::Client>(connect()));
    clients.back()->send(testing::get("/"));
  }
  // Each that ends makes room for one that waits in the backlog.
  for (auto& client : clients) {
    EXPECT_EQ(client->answer()->body, "hello");
    client.reset();
  }
  EXPECT_LE(most, 4);
  EXPECT_GT(counters().accept_pauses, 0U);
  run_->cancel();
  run_->wait();
}

/// A worker on this thread, and a connection that another one has accepted.
class Adoption : public ::testing::Test {
 protected:
  Adoption() {
    router_.get("/", [] { return "hello"; });
    std::array<int, 2> ends{};
    EXPECT_EQ(bsd::pair(ends), 0);
    accepted_ = Socket(ends[0]);
    peer_ = Socket(ends[1]);
  }
  bool ends() {
    for (int i = 0; i < 100 && !(*worker_).is_done(); ++i) (*worker_).run_once(1ms);
    return (*worker_).is_done();
  }

  Router router_;
  testing::TestWorker worker_{router_, BackendChoice::Poll, {}, testing::Transport::Tcp};
  Socket accepted_;
  Socket peer_;
};

TEST_F(Adoption, IsRefusedByAWorkerThatHasEnded) {
  (*worker_).begin_drain();
  EXPECT_TRUE(ends());
  EXPECT_FALSE((*worker_).acceptor().adopt(accepted_));
  EXPECT_TRUE(accepted_);
}

TEST_F(Adoption, IsServedByAWorkerThatDrains) {
  (*worker_).begin_drain();
  EXPECT_TRUE((*worker_).acceptor().adopt(accepted_));
  EXPECT_FALSE(accepted_);
  testing::Client client(std::move(peer_));
  EXPECT_EQ(worker_.ask(client, testing::get("/"))->body, "hello");
  worker_.advance(60s);  // the worker waits no longer for the peer to close
  EXPECT_TRUE(client.is_closed());
  EXPECT_TRUE(ends());
}

TEST_F(Adoption, IsClosedByAWorkerThatIsCancelled) {
  (*worker_).begin_drain(Duration::zero());
  EXPECT_TRUE((*worker_).acceptor().adopt(accepted_));
  EXPECT_TRUE(ends());
  char byte = 0;
  EXPECT_EQ(bsd::recv(peer_.descriptor(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace skua::server
