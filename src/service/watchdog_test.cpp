// SPDX-License-Identifier: MIT
#include "service/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "skua/router.hpp"
#include "skua/server.hpp"
#include "support/test_server.hpp"

namespace skua::service {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;

constexpr auto patience = std::chrono::seconds(60);

/// Waits until a count has grown by `more`.
[[nodiscard]] bool grows(const std::atomic<int>& count, int more) {
  const int enough = count + more;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (count < enough && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return count >= enough;
}

class Watched : public ::testing::Test {
 protected:
  Watched() {
    router_.get("/", [] { return "hello"; });
    router_.get("/stall", [this] {
      is_stalled_.set_value();
      resume_.get_future().wait();
      return "at last";
    });
  }
  static ServerOptions two_threads() { return {.threads = 2}; }

  Router router_;
  std::promise<void> is_stalled_;
  std::promise<void> resume_;
};

TEST_F(Watched, ServersThatMakeProgressAreTold) {
  TestServer one(router_, BackendChoice::Auto, two_threads(), testing::Transport::Tcp);
  TestServer other(router_, BackendChoice::Auto, {}, testing::Transport::Tcp);
  std::atomic<int> count{0};
  const Watchdog watchdog({&*one, &*other}, 1ms, [&] { ++count; });
  EXPECT_TRUE(grows(count, 5));
}

// A second watchdog, of a server that goes on, is the clock.
TEST_F(Watched, AStalledThreadStopsTheCalls) {
  TestServer server(router_, BackendChoice::Auto, two_threads(), testing::Transport::Tcp);
  TestServer healthy(router_, BackendChoice::Auto, {}, testing::Transport::Tcp);
  std::atomic<int> count{0};
  std::atomic<int> ticks{0};
  const Watchdog watchdog({&*server}, 1ms, [&] { ++count; });
  const Watchdog clock({&*healthy}, 1ms, [&] { ++ticks; });
  EXPECT_TRUE(grows(count, 3));
  Client client = server.connect();
  client.send(get("/stall"));
  ASSERT_EQ(is_stalled_.get_future().wait_for(patience), std::future_status::ready);
  EXPECT_TRUE(grows(ticks, 20));
  const int stalled_at = count;
  EXPECT_TRUE(grows(ticks, 100));
  EXPECT_EQ(count, stalled_at);
  resume_.set_value();
  EXPECT_EQ(client.answer()->body, "at last");
  EXPECT_TRUE(grows(count, 3)) << "goes on";
}

TEST_F(Watched, ServersThatHaveEndedAreNotWaitedFor) {
  TestServer ending(router_, BackendChoice::Auto, two_threads(), testing::Transport::Tcp);
  Server unstarted(router_, {.host = "127.0.0.1", .port = 0});
  std::atomic<int> count{0};
  const Watchdog watchdog({&*ending, &unstarted}, 1ms, [&] { ++count; });
  EXPECT_TRUE(grows(count, 3));
  ending->shutdown();
  EXPECT_TRUE(grows(count, 3));
  ASSERT_TRUE(ending->start());
  EXPECT_TRUE(grows(count, 3));
}

TEST_F(Watched, ItEndsWhileAThreadIsStalled) {
  TestServer server(router_, BackendChoice::Auto, {}, testing::Transport::Tcp);
  Client client = server.connect();
  {
    const Watchdog watchdog({&*server}, std::chrono::hours(1), [] {});
    client.send(get("/stall"));
    ASSERT_EQ(is_stalled_.get_future().wait_for(patience), std::future_status::ready);
  }
  resume_.set_value();
}

}  // namespace
}  // namespace skua::service
