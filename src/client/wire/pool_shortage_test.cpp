// SPDX-License-Identifier: MIT
// Connections that cannot be made for want of descriptors or ports.
#include <gtest/gtest.h>

#include <optional>

#include "client/wire/pool_fixture.hpp"

namespace skua::client {
namespace {

TEST_F(PoolTest, ForWantOfDescriptorsThoseInUseAreWaitedFor) {
  make({.per_host = 9, .total = 9, .idle = 50s});
  Use& first = begin("a");
  fails_ = true;
  failure_ = Errc::TooManyOpenFiles;
  Use& second = begin("a");
  Use& third = begin("a");
  Use& fourth = begin("a", 3s);
  EXPECT_EQ(second.name + third.name + fourth.name, "");
  end(first);
  EXPECT_EQ(second.name, "a1");
  fails_ = false;
  advance(51ms);
  EXPECT_TRUE(third.name != "" && fourth.name != "");
  fails_ = true;
  Use& fifth = begin("a", 3s);
  advance(3001ms);
  EXPECT_EQ(fifth.name, "refused");
}

TEST_F(PoolTest, ForWantOfDescriptorsAnotherHostsIdleConnectionIsClosed) {
  make({.per_host = 9, .total = 9, .idle = 50s});
  end(begin("b"));
  fails_ = true;
  failure_ = Errc::TooManyOpenFiles;
  Use& first = begin("a");
  EXPECT_EQ(pool_->idle_count(), 0U);
  fails_ = false;
  advance(51ms);
  EXPECT_EQ(first.name, "a2");
}

TEST_F(PoolTest, WhoWaitsForDescriptorsLeavesItsPlaceToOtherHosts) {
  make({.per_host = 9, .total = 1, .idle = 50s});
  gate_.emplace();
  failing_host_ = "a";
  failure_ = Errc::TooManyOpenFiles;
  begin("a", 3s);
  Use& second = begin("b");
  EXPECT_EQ(second.name, "");
  gate_->set();
  settle();
  EXPECT_EQ(second.name, "b1");
}

TEST_F(PoolTest, ClosingDoesNotWaitForWhoWaitsForDescriptors) {
  gate_.emplace();
  fails_ = true;
  failure_ = Errc::TooManyOpenFiles;
  begin("a", 3s);
  bool is_closed = false;
  Task<> closing = [](Pool& pool, bool& is_done) -> Task<> {
    co_await pool.closed();
    is_done = true;
  }(*pool_, is_closed);
  loop_->post([&closing] { closing.start(nullptr, nullptr); });
  settle();
  EXPECT_FALSE(is_closed);
  gate_->set();
  settle();
  EXPECT_TRUE(is_closed);
}

TEST_F(PoolTest, ForWantOfPortsThoseInUseAreWaitedForIfThereAreAny) {
  fails_ = true;
  failure_ = Errc::AddressUnavailable;
  EXPECT_EQ(begin("a").name, "refused");  // it may be the address that is wrong
  fails_ = false;
  Use& first = begin("a");
  fails_ = true;
  Use& second = begin("a");
  EXPECT_EQ(second.name, "");
  end(first);
  EXPECT_EQ(second.name, "a1");
}

}  // namespace
}  // namespace skua::client
