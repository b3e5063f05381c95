// SPDX-License-Identifier: MIT
// Signals and what they do to a server, in this process.
#include "skua/shutdown_signals.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::TestServer;

constexpr auto patience = std::chrono::seconds(60);

void await_state(Server& server, ServerState state) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (server.state() != state && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(server.state(), state);
}

class Signals : public ::testing::Test {
 protected:
  void SetUp() override {
    router_.get("/", [] { return "hello"; });
    options_.timeouts.drain_delay = std::chrono::hours(1);
  }

  const ShutdownSignals signals_;
  Router router_;
  ServerOptions options_;
};

TEST_F(Signals, TheSecondSkipsTheDrainDelay) {
  TestServer server(router_, BackendChoice::Auto, options_);
  auto ended = std::async(std::launch::async, [&] { signals_.wait_and_drain(*server); });
  ::kill(::getpid(), SIGTERM);
  await_state(*server, ServerState::Leaving);
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(server->state(), ServerState::Ended);
}

TEST_F(Signals, TheThirdEndsTheDrainAtOnce) {
  options_.timeouts.shutdown = Duration::max();
  options_.timeouts.drain_grace = Duration::max();  // of the client that stays
  TestServer server(router_, BackendChoice::Auto, options_);
  testing::Client client = server.connect();
  auto ended = std::async(std::launch::async, [&] { signals_.wait_and_drain(*server); });
  client.send(testing::get("/"));
  EXPECT_EQ(client.answer()->body, "hello");
  ::kill(::getpid(), SIGTERM);
  await_state(*server, ServerState::Leaving);
  ::kill(::getpid(), SIGINT);
  await_state(*server, ServerState::Draining);
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(ended.wait_for(patience), std::future_status::ready);
}

}  // namespace
}  // namespace skua
