// SPDX-License-Identifier: MIT
#include "server/accept_filter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loop/clock.hpp"
#include "skua/ip_filter.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::server {
namespace {

class AcceptFilterTest : public ::testing::Test {
 protected:
  AcceptFilterTest() {
    options_.hooks.on_connection_refused = [this](std::string_view peer, ConnectionRefusal why) {
      refused_.emplace_back(peer, why);
    };
    options_.hooks.log = [this](LogLevel, std::string_view text) { log_.emplace_back(text); };
  }
  /// Connects, and reports whether the connection was admitted.
  bool admits() {
    client_ = TcpSocket::connect_to(listener_.local_address()).value();
    return static_cast<bool>(filter_.admit(listener_.accept().value()));
  }
  Errc end_of_client() {
    std::array<char, 1> room{};
    return client_.receive(room, 20s).error().code();
  }

  ServerOptions options_;
  WorkerCounters counters_;
  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_ = *loop::Loop::create({.clock = &clock_});
  AcceptFilter filter_{options_, counters_, *loop_};
  TcpSocket listener_ = TcpSocket::listen_on(Address::loopback(Address::Family::Ipv4, 0)).value();
  TcpSocket client_;
  std::vector<std::pair<std::string, ConnectionRefusal>> refused_;
  std::vector<std::string> log_;
};

TEST_F(AcceptFilterTest, AdmitsEveryoneByDefault) {
  EXPECT_TRUE(admits());
  EXPECT_TRUE(refused_.empty());
}

TEST_F(AcceptFilterTest, ResetsPeersThatTheIpFilterDenies) {
  options_.ip_filter =
      std::make_shared<IpFilter>(IpRules{.deny = {Network::parse("127.0.0.0/8").value()}});
  options_.accepts = [](const Address&) -> bool { throw std::logic_error("not asked"); };
  EXPECT_FALSE(admits());
  EXPECT_EQ(end_of_client(), Errc::Reset);
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0],
            std::pair(client_.local_address().to_string(), ConnectionRefusal::IpFilter));
  EXPECT_EQ(counters_.refused_by_ip_filter, 1U);
  EXPECT_TRUE(log_.empty());
}

TEST_F(AcceptFilterTest, ResetsThoseThatAreNotTrustedToSendProxyHeaders) {
  const auto trust = [this](const char* network, bool proxy_protocol) {
    options_.trusted_proxies = std::make_shared<TrustedProxies>(ProxyRules{
        .networks = {Network::parse(network).value()}, .proxy_protocol = proxy_protocol});
  };
  trust("192.0.2.0/24", false);
  EXPECT_TRUE(admits());
  trust("127.0.0.1", true);
  EXPECT_TRUE(admits());
  EXPECT_TRUE(refused_.empty());
  trust("192.0.2.0/24", true);
  EXPECT_FALSE(admits());
  EXPECT_EQ(end_of_client(), Errc::Reset);
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].second, ConnectionRefusal::UntrustedProxy);
  EXPECT_EQ(counters_.refused_untrusted_proxies, 1U);
  EXPECT_TRUE(log_.empty());
}

TEST_F(AcceptFilterTest, AsksTheCallbackWithThePeersAddress) {
  Address asked;
  bool answer = true;
  options_.accepts = [&](const Address& peer) {
    asked = peer;
    return answer;
  };
  EXPECT_TRUE(admits());
  EXPECT_EQ(asked, client_.local_address());
  answer = false;
  EXPECT_FALSE(admits());
  EXPECT_EQ(end_of_client(), Errc::Reset);
  EXPECT_EQ(refused_.back().second, ConnectionRefusal::Callback);
  EXPECT_EQ(counters_.refused_by_callback, 1U);
}

TEST_F(AcceptFilterTest, RefusesIfTheCallbackThrowsAndLogsThatOnceASecond) {
  options_.accepts = [](const Address&) -> bool { throw std::runtime_error("no database"); };
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(admits());
  EXPECT_EQ(end_of_client(), Errc::Reset);
  EXPECT_EQ(counters_.failed_accepts, 100U);
  EXPECT_EQ(refused_.back().second, ConnectionRefusal::CallbackFailed);
  EXPECT_EQ(log_, std::vector<std::string>{"the accept filter failed: no database"});
  clock_.advance(1s);
  loop_->run_once(Duration(0));
  options_.accepts = [](const Address&) -> bool { throw 1; };
  EXPECT_FALSE(admits());
  ASSERT_EQ(log_.size(), 2U);
  EXPECT_EQ(log_[1], "the accept filter failed: an exception of unknown type");
}

TEST_F(AcceptFilterTest, PassesOnThatMemoryRanOut) {
  options_.accepts = [](const Address&) -> bool { throw std::bad_alloc(); };
  EXPECT_THROW(admits(), std::bad_alloc);
  EXPECT_EQ(counters_.failed_accepts, 0U);
}

TEST_F(AcceptFilterTest, LeavesUnixPeersToTheCallback) {
  options_.ip_filter =
      std::make_shared<IpFilter>(IpRules{.deny = {Network::parse("0.0.0.0/0").value()}});
  auto ends = UnixSocket::pair().value();
  EXPECT_TRUE(filter_.admit(std::move(ends.first)));
  options_.accepts = [](const Address& peer) { return peer.is_ip(); };
  EXPECT_FALSE(filter_.admit(std::move(ends.second)));
  EXPECT_EQ(counters_.refused_by_callback, 1U);
}

TEST_F(AcceptFilterTest, DropsAPeerThatHasLeftWithoutAsking) {
  options_.accepts = [](const Address&) -> bool { throw std::logic_error("not asked"); };
  EXPECT_FALSE(filter_.admit(TcpSocket::open(Address::Family::Ipv4).value()));
  EXPECT_TRUE(refused_.empty());
  EXPECT_EQ(counters_.failed_accepts, 0U);
}

}  // namespace
}  // namespace skua::server
