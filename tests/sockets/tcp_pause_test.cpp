// SPDX-License-Identifier: MIT
// Clients of a TcpServer that are paused, on every back end. The server runs on the test's thread.
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "skua/socket.hpp"
#include "skua/tcp_server.hpp"
#include "support/backends.hpp"

namespace skua {
namespace {

/// The events of a client.
struct Heard {
  TcpConnection* client = nullptr;
  std::string input{};
  int calls = 0;
  int ends = 0;
  std::optional<Errc> left{};
};

class Listening {
 public:
  Listening(Heard& heard, TcpConnection& client) : heard_(&heard) {
    heard.client = &client;
    client.pause();
  }
  void on_readable(TcpConnection& client) {
    ++heard_->calls;
    heard_->input += client.input();
    client.consume_all();
  }
  void on_end(TcpConnection& /*client*/) { ++heard_->ends; }
  void on_disconnect(TcpConnection& /*client*/, Error why) {
    heard_->left = why.code();
    heard_->client = nullptr;
  }

 private:
  Heard* heard_;
};

class PausedTcpClients : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.listen());
    client_ = TcpSocket::connect_to(server_.address(), 10s).value();
    ASSERT_TRUE(client_.set_no_delay(true));
    poll_until([this] { return heard_.client != nullptr; });
  }
  void poll_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!holds() && std::chrono::steady_clock::now() < end) server_.poll(1ms).value();
    EXPECT_TRUE(holds());
  }
  void poll_some() {
    for (int turn = 0; turn < 5; ++turn) server_.poll().value();
  }
  void send_one_by_one(int count) {
    for (int i = 0; i < count; ++i) {
      const auto byte = static_cast<char>('a' + i % 26);
      ASSERT_TRUE(client_.send_all({&byte, 1}));
      sent_ += byte;
      server_.poll().value();
    }
    poll_some();
  }

  Heard heard_;
  TcpServer<Listening> server_{{.host = "127.0.0.1", .backend = GetParam()},
                               [this](TcpConnection& client) { return Listening(heard_, client); }};
  TcpSocket client_;
  std::string sent_;
};

TEST_P(PausedTcpClients, SeeEverythingOnceTheyResume) {
  send_one_by_one(400);
  EXPECT_EQ(heard_.calls, 0);
  heard_.client->resume();
  poll_until([this] { return heard_.input.size() == sent_.size(); });
  EXPECT_EQ(heard_.input, sent_);
  const int calls = heard_.calls;
  heard_.client->pause();
  heard_.client->resume();  // nothing has come meanwhile
  poll_some();
  EXPECT_EQ(heard_.calls, calls);
  send_one_by_one(1);
  poll_until([this] { return heard_.input.size() == sent_.size(); });
}

TEST_P(PausedTcpClients, AreMissedWhenTheyLeave) {
  for (const int count : {0, 40}) {
    SCOPED_TRACE(count);
    send_one_by_one(count);
    ASSERT_TRUE(client_.set_linger(0s));
    client_.close();
    poll_until([this] { return heard_.left.has_value(); });
    EXPECT_EQ(heard_.left, Errc::Reset);
    EXPECT_EQ(heard_.calls, 0);
    heard_ = {};
    client_ = TcpSocket::connect_to(server_.address(), 10s).value();
    poll_until([this] { return heard_.client != nullptr; });
  }
}

TEST_P(PausedTcpClients, AreToldOfTheEndAfterTheInput) {
  send_one_by_one(40);
  ASSERT_TRUE(client_.shutdown_write());
  poll_some();
  EXPECT_EQ(heard_.calls + heard_.ends, 0);
  heard_.client->resume();
  poll_until([this] { return heard_.ends == 1; });
  EXPECT_EQ(heard_.input, sent_);
  EXPECT_FALSE(heard_.left);
}

TEST_P(PausedTcpClients, AreToldOfAnEndWithoutInputAtOnce) {
  ASSERT_TRUE(client_.shutdown_write());
  poll_until([this] { return heard_.ends == 1; });
  heard_.client->resume();
  poll_some();
  EXPECT_EQ(heard_.ends, 1);
}

// The system's buffers hold a few MiB.
TEST_P(PausedTcpClients, AreHeldBack) {
  constexpr std::size_t much = 64 * 1024 * 1024;
  const std::string piece(64 * 1024, 'x');
  std::size_t sent_bytes = 0;
  for (int refusals = 0; refusals < 100 && sent_bytes < much;) {
    const auto count = client_.try_send(piece);
    if (count) sent_bytes += *count;
    refusals = count ? 0 : refusals + 1;
    server_.poll().value();
  }
  EXPECT_LT(sent_bytes, much);
  EXPECT_EQ(heard_.calls, 0);
  EXPECT_LE(heard_.client->received_bytes(), std::uint64_t{2 * 1024 * 1024});
  heard_.client->resume();
  poll_until([&] { return heard_.input.size() == sent_bytes; });
}

INSTANTIATE_TEST_SUITE_P(Backends, PausedTcpClients, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
