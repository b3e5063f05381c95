// SPDX-License-Identifier: MIT
// Tasks of a TcpServer's sessions that outlive their clients.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "skua/async.hpp"
#include "skua/finish.hpp"
#include "skua/socket.hpp"
#include "skua/tcp_server.hpp"
#include "support/backends.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

struct Ledger {
  std::atomic<bool> is_open{false};
  std::atomic<int> begun{0};
  std::atomic<int> dropped{0};
  std::atomic<int> ended{0};
};

Task<> book(Ledger& ledger) {
  ++ledger.begun;
  while (!ledger.is_open) co_await sleep(1ms);
  ++ledger.ended;
}

/// Begins a booking for each client, and forgets it when the client leaves.
struct Session {
  explicit Session(Ledger& its_ledger) : ledger(its_ledger) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { ++ledger.dropped; }

  void on_readable(TcpConnection& client) {
    client.consume_all();
    tasks.spawn(finish(book(ledger)));
  }

  Ledger& ledger;
  Scope tasks;
};

class TcpFinish : public ::testing::TestWithParam<BackendChoice> {
 protected:
  /// Serves a client that leaves during its booking, and stops.
  void stop_meanwhile(Duration shutdown, bool opens) {
    TcpServerOptions options{.host = "127.0.0.1", .port = 0};
    options.backend = GetParam();
    options.shutdown = shutdown;
    TcpServer<Session> server(std::move(options),
                              [this](TcpConnection&) { return Session(ledger_); });
    const auto listening = server.listen();
    ASSERT_TRUE(listening) << listening.error().text;
    std::thread thread([&server] { EXPECT_TRUE(server.run()); });
    {
      auto client = TcpSocket::connect_to(server.address(), 10s).value();
      EXPECT_TRUE(client.send("pay"));
      testing::wait_until([this] { return ledger_.begun == 1; });
    }
    testing::wait_until([this] { return ledger_.dropped == 1; });
    EXPECT_EQ(ledger_.ended, 0);
    server.request_stop();
    ledger_.is_open = opens;
    thread.join();
  }

  Ledger ledger_;
};

TEST_P(TcpFinish, AStopWaitsForThem) {
  stop_meanwhile(60s, true);
  EXPECT_EQ(ledger_.ended, 1);
}

TEST_P(TcpFinish, UntilItsTimeIsUp) {
  stop_meanwhile(1ms, false);
  EXPECT_EQ(ledger_.ended, 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, TcpFinish, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
