// SPDX-License-Identifier: MIT
// Connections that a filter refuses: right after accept, before TLS, without a trace. On every back
// end, over every transport.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file_io.hpp"
#include "skua.hpp"
#include "support/allocations.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;
using testing::Transport;

Network network(const char* text) { return Network::parse(text).value(); }

class AcceptFilters : public ::testing::TestWithParam<BackendChoice> {
 protected:
  AcceptFilters() {
    router_.get("/", [] { return "hello"; });
    options_.ip_filter = filter_;
    options_.hooks.on_connection_open = [this](std::string_view) { ++opened_; };
    options_.hooks.on_connection_refused = [this](std::string_view peer, ConnectionRefusal why) {
      EXPECT_TRUE(peer.starts_with("127.0.0.1:")) << peer;
      EXPECT_EQ(why, ConnectionRefusal::IpFilter);
      ++refused_;
    };
  }
  static bool is_served(const TestServer& server) {
    Client client = server.connect();
    client.send(get("/"));
    const auto answer = client.answer();
    return answer && answer->body == "hello";
  }
  /// Connects without TLS, whatever the server expects, and reports whether nothing but a reset
  /// came back, which may be as early as in connect().
  static bool is_reset(std::uint16_t port) {
    auto socket = TcpSocket::connect_to(Address::loopback(Address::Family::Ipv4, port));
    if (!socket) return socket.error().code() == Errc::Reset;
    std::array<char, 1> room{};
    return socket->receive(room, 20s).error().code() == Errc::Reset;
  }

  Router router_;
  std::shared_ptr<IpFilter> filter_ = std::make_shared<IpFilter>();
  ServerOptions options_;
  std::atomic<std::size_t> opened_{0};
  std::atomic<std::size_t> refused_{0};
};

TEST_P(AcceptFilters, ChangeWhileTheServerRuns) {
  TestServer server(router_, GetParam(), options_);
  Client open = server.connect();
  open.send(get("/"));
  EXPECT_EQ(open.answer()->status, 200);
  filter_->replace({.deny = {network("127.0.0.0/8")}});
  EXPECT_TRUE(is_reset(server.port()));
  open.send(get("/"));  // a connection that is open stays so
  EXPECT_EQ(open.answer()->status, 200);
  filter_->replace({.allow = {network("192.0.2.0/24")}});
  EXPECT_TRUE(is_reset(server.port()));
  filter_->replace({.allow = {network("127.0.0.1")}});
  EXPECT_TRUE(is_served(server));
  server->shutdown();
  EXPECT_EQ(opened_.load(), 2U);
  EXPECT_EQ(refused_.load(), 2U);
  EXPECT_EQ(server->counters().connections_accepted, 2U);
  EXPECT_EQ(server->counters().refused_by_ip_filter, 2U);
}

TEST_P(AcceptFilters, OneFilterMayServeSeveralServers) {
  TestServer first(router_, GetParam(), options_);
  TestServer second(router_, GetParam(), options_);
  EXPECT_TRUE(is_served(first) && is_served(second));
  filter_->change([](IpRules& rules) { rules.deny.push_back(network("127.0.0.1")); });
  EXPECT_TRUE(is_reset(first.port()) && is_reset(second.port()));
}

// Peers of an IPv6 listener have IPv4-mapped addresses if they use IPv4.
TEST_P(AcceptFilters, ApplyToIpv4PeersOfAnIpv6Listener) {
  options_.hooks = {};
  Server server(
      router_,
      {.host = "[::]", .port = 0, .threads = 1, .backend = GetParam(), .ip_filter = filter_});
  if (!server.start()) GTEST_SKIP() << "this machine has no IPv6";
  Client before(server.port(), Transport::Tcp);
  before.send(get("/"));
  EXPECT_EQ(before.answer()->status, 200);
  filter_->replace({.deny = {network("127.0.0.0/8")}});
  EXPECT_TRUE(is_reset(server.port()));
  filter_->replace({.allow = {network("::/0")}});
  EXPECT_TRUE(is_reset(server.port()));
}

TEST_P(AcceptFilters, AskACallbackOnAThreadOfTheServer) {
  std::mutex mutex;
  std::vector<Address> peers;
  const auto test_thread = std::this_thread::get_id();
  options_.threads = 2;
  options_.hooks = {};
  options_.accepts = [&](const Address& peer) {
    EXPECT_NE(std::this_thread::get_id(), test_thread);
    const std::lock_guard lock(mutex);
    peers.push_back(peer);
    return peers.size() > 1;
  };
  TestServer server(router_, GetParam(), options_);
  EXPECT_TRUE(is_reset(server.port()));
  EXPECT_TRUE(is_served(server));
  server->shutdown();
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_TRUE(peers[0].is_loopback() && peers[0].port() != 0);
  EXPECT_EQ(server->counters().refused_by_callback, 1U);
}

TEST_P(AcceptFilters, RefuseIfTheCallbackThrows) {
  std::atomic<std::size_t> logged{0};
  options_.hooks = {};
  options_.hooks.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::Error && text == "the accept filter failed: broken") ++logged;
  };
  options_.accepts = [](const Address&) -> bool { throw std::runtime_error("broken"); };
  TestServer server(router_, GetParam(), options_);
  EXPECT_TRUE(is_reset(server.port()));
  server->shutdown();
  EXPECT_EQ(server->counters().failed_accepts, 1U);
  EXPECT_EQ(logged.load(), 1U);
}

TEST_P(AcceptFilters, LeaveNothingBehindAfterAFlood) {
  constexpr std::size_t flood = 3000;
  options_.threads = 2;
  std::atomic<std::size_t> logged{0};
  options_.hooks.log = [&](LogLevel, std::string_view) { ++logged; };
  TestServer server(router_, GetParam(), options_);
  EXPECT_TRUE(is_served(server));
  const std::size_t logged_before = logged;
  filter_->replace({.deny = {network("127.0.0.0/8")}});
  const std::size_t files = base::open_files_count();
  const Address address = Address::loopback(Address::Family::Ipv4, server.port());
  for (std::size_t i = 0; i < flood; ++i) {
    static_cast<void>(TcpSocket::connect_to(address));  // may be reset already
  }
  while (server->counters().refused_by_ip_filter < flood) std::this_thread::yield();
  testing::wait_until([&] { return base::open_files_count() <= files; });
  EXPECT_EQ(server->counters().connections_accepted, 1U);
  EXPECT_EQ(logged.load(), logged_before);
}

TEST(IpFilterCost, IsNoAllocation) {
  IpRules rules;
  for (int i = 0; i < 1000; ++i) {
    rules.deny.push_back(network(("10.0." + std::to_string(i % 250) + ".0/24").c_str()));
  }
  const IpFilter filter(rules);
  const Address denied = Address::parse("[::ffff:10.0.7.7]:1").value();
  const Address accepted = Address::parse("[2001:db8::1]:1").value();
  const std::uint64_t before = testing::allocations().count;
  EXPECT_FALSE(filter.accepts(denied));
  EXPECT_TRUE(filter.accepts(accepted));
  EXPECT_EQ(testing::allocations().count, before);
}

INSTANTIATE_TEST_SUITE_P(Backends, AcceptFilters, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
