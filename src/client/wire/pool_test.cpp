// SPDX-License-Identifier: MIT
#include "client/wire/pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "client/wire/pool_fixture.hpp"

namespace skua::client {
namespace {

TEST_F(PoolTest, AConnectionIsUsedAgain) {
  Use& first = begin("a");
  EXPECT_EQ(first.name, "a1");
  EXPECT_FALSE(first.is_reused);
  end(first);
  EXPECT_EQ(pool_->idle_count(), 1U);
  Use& second = begin("a");
  EXPECT_EQ(second.name, "a1");
  EXPECT_TRUE(second.is_reused);
  EXPECT_EQ(pool_->idle_count(), 0U);
  EXPECT_EQ(begin("b").name, "b2");
}

TEST_F(PoolTest, TheOneThatWasUsedLastIsUsedFirst) {
  Use& first = begin("a");
  Use& second = begin("a");
  end(second);
  end(first);
  EXPECT_EQ(begin("a").name, "a1");
  EXPECT_EQ(begin("a").name, "a2");
}

TEST_F(PoolTest, WhoComesFirstIsServedFirst) {
  Use& first = begin("a");
  Use& second = begin("a");
  Use& third = begin("a");
  Use& fourth = begin("a");
  EXPECT_EQ(third.name + fourth.name, "");
  end(first);
  EXPECT_EQ(third.name, "a1");
  EXPECT_EQ(fourth.name, "");
  end(second);
  EXPECT_EQ(fourth.name, "a2");
}

TEST_F(PoolTest, WhoIsDroppedInTheLineHoldsUpNobody) {
  Use& first = begin("a");
  begin("a");
  Use& third = begin("a");
  Use& fourth = begin("a");
  drop(third);
  end(first);
  EXPECT_EQ(third.name, "");
  EXPECT_EQ(fourth.name, "a1");
}

TEST_F(PoolTest, WhoWaitsTooLongIsToldForWhat) {
  begin("a");
  begin("a");
  Use& third = begin("a", 3s);
  advance(2999ms);
  EXPECT_EQ(third.name, "");
  advance(2ms);
  EXPECT_EQ(third.name,
            "could not get one of the connections to a, which are all in use: none became free "
            "within 3 s (ClientTimeouts::queue)");
}

TEST_F(PoolTest, WhatCannotBeMadeLeavesItsPlaceToOthers) {
  gate_.emplace();
  fails_ = true;
  Use& first = begin("a");
  Use& second = begin("a");
  Use& third = begin("a");
  EXPECT_EQ(pool_->size(), 2U);
  gate_->set();
  settle();
  EXPECT_EQ(first.name + second.name + third.name, "refusedrefusedrefused");
  EXPECT_EQ(pool_->size(), 0U);
}

TEST_F(PoolTest, BesideADeadConnectionThoseThatAreIdleAreClosed) {
  Use& first = begin("a");
  Use& second = begin("a");
  Use& other = begin("b");
  for (Use* const use : {&first, &second, &other}) end(*use);
  const Pool::Lease dead = pool_->take_free("a");
  pool_->close_idle_beside(dead.connection());
  EXPECT_EQ(pool_->size(), 2U);
  EXPECT_EQ(begin("b").name, "b3");
}

TEST_F(PoolTest, WhoIsDroppedWhileItConnectsLeavesItsPlace) {
  gate_.emplace();
  Use& first = begin("a");
  Use& second = begin("a");
  Use& third = begin("a");
  drop(first);
  drop(second);
  EXPECT_EQ(pool_->size(), 1U);
  gate_->set();
  settle();
  EXPECT_EQ(third.name, "a1");
}

TEST_F(PoolTest, AnIdleConnectionMakesRoomForAnotherHost) {
  Use& a = begin("a");
  Use& b = begin("b");
  begin("c");
  Use& d = begin("d");
  EXPECT_EQ(d.name, "");  // three are in use
  end(b);
  EXPECT_EQ(d.name, "d4");
  EXPECT_EQ(pool_->size(), 3U);
  end(a);
  EXPECT_EQ(begin("a").name, "a1");
}

TEST_F(PoolTest, IdleConnectionsAreClosedAfterAWhile) {
  Use& first = begin("a");
  Use& second = begin("a");
  end(first);
  advance(30s);
  end(second);
  advance(21s);
  EXPECT_EQ(pool_->size(), 1U);
  advance(30s);
  EXPECT_EQ(pool_->size(), 0U);
}

TEST_F(PoolTest, ConnectionsOfManyStreamsAreShared) {
  streams_ = 2;
  Use& first = begin("a");
  Use& second = begin("a");
  EXPECT_EQ(first.name + second.name, "a1a1");
  Use& third = begin("a");
  EXPECT_EQ(third.name, "a2");
  end(first);
  EXPECT_EQ(begin("a").name, "a2");  // both have room
  EXPECT_EQ(begin("a").name, "a1");
}

TEST_F(PoolTest, AFreeConnectionIsTakenAtOnce) {
  EXPECT_FALSE(pool_->take_free("a"));
  Use& first = begin("a");
  EXPECT_FALSE(pool_->take_free("a"));
  end(first);
  EXPECT_FALSE(pool_->take_free("b"));
  const Pool::Lease lease = pool_->take_free("a");
  ASSERT_TRUE(lease);
  EXPECT_TRUE(lease.is_reused());
  EXPECT_EQ(pool_->idle_count(), 0U);
  EXPECT_FALSE(pool_->take_free("a"));
}

TEST_F(PoolTest, ConnectionsInUseAreNotAskedForRoom) {
  make({.per_host = 300, .total = 300, .idle = 50s});
  for (int i = 0; i < 300; ++i) begin("a");
  end(*uses_[7]);
  asked_ = 0;
  EXPECT_EQ(begin("a").name, "a8");
  end(*uses_.back());
  EXPECT_LE(asked_, 4U);
}

TEST_F(PoolTest, ALongLineCostsNoMoreThanAShortOne) {
  for (int i = 0; i < 300; ++i) begin("a");
  asked_ = 0;
  end(*uses_.front());
  EXPECT_EQ(uses_[2]->name, "a1");
  EXPECT_LE(asked_, 8U);
  asked_ = 0;
  begin("a");
  EXPECT_LE(asked_, 2U);
}

// A line for each host; the order among hosts is that of the requests.
TEST_F(PoolTest, APlaceInTotalGoesToTheFirstInLine) {
  make({.per_host = 3, .total = 2, .idle = 50s});
  Use& first = begin("a");
  Use& second = begin("b");
  Use& a2 = begin("a");
  Use& c = begin("c");
  Use& a3 = begin("a");
  Use& b2 = begin("b");
  dies_ = true;
  end(second);  // its place goes to a host that came earlier than the next request for b
  EXPECT_EQ(a2.name, "a3");
  EXPECT_EQ(c.name + a3.name + b2.name, "");
  end(a2);
  EXPECT_EQ(c.name, "c4");
  dies_ = false;
  end(first);  // its host's own request has waited longer than others
  EXPECT_EQ(a3.name, "a1");
  EXPECT_EQ(b2.name, "");
  end(a3);  // idle, so it makes room
  EXPECT_EQ(b2.name, "b5");
  EXPECT_EQ(pool_->size(), 2U);
}

TEST_F(PoolTest, WhoLeavesTheLineLeavesItsTurnToTheNext) {
  make({.per_host = 3, .total = 1, .idle = 50s});
  Use& first = begin("a");
  Use& early = begin("b");
  Use& middle = begin("c");
  Use& late = begin("b");
  drop(early);
  dies_ = true;
  end(first);
  EXPECT_EQ(middle.name, "c2");
  end(middle);
  EXPECT_EQ(late.name, "b3");
}

TEST_F(PoolTest, AnEventOfOneHostDoesNotLookAtOthers) {
  make({.per_host = 1, .total = 2, .idle = 50s});
  Use& first = begin("a");
  for (int i = 0; i < 300; ++i) begin("host" + std::to_string(i));
  Use& second = begin("a");
  asked_ = 0;
  end(first);
  EXPECT_EQ(second.name, "a1");
  EXPECT_LE(asked_, 4U);
}

TEST_F(PoolTest, AMeterIsToldOfEachChange) {
  using Gauges = std::array<int, 4>;  // open, idle, connecting, waiting
  gate_.emplace();
  Use& first = begin("a");
  Use& second = begin("a");
  begin("a");
  Use& impatient = begin("a", 3s);
  EXPECT_EQ(meter_.gauges, (Gauges{0, 0, 2, 2}));
  gate_->set();
  settle();
  EXPECT_EQ(meter_.gauges, (Gauges{2, 0, 0, 2}));
  EXPECT_EQ(meter_.reuses, 0);
  advance(2s);
  end(first);
  EXPECT_EQ(meter_.gauges, (Gauges{2, 0, 0, 1}));
  EXPECT_EQ(meter_.reuses, 1);
  advance(2s);
  EXPECT_NE(impatient.name, "");
  EXPECT_EQ(meter_.waits, (std::vector<Duration>{2s, 4s}));
  end(second);
  EXPECT_EQ(meter_.gauges, (Gauges{2, 1, 0, 0}));
  drop(begin("a"));
  EXPECT_EQ(meter_.gauges, (Gauges{2, 1, 0, 0}));
  EXPECT_EQ(meter_.reuses, 2);
  advance(51s);
  EXPECT_EQ(meter_.gauges, (Gauges{1, 0, 0, 0}));
  EXPECT_EQ(meter_.waits.size(), 2U) << "the others did not have to wait";
}

TEST_F(PoolTest, AMeterIsToldOfWhatDidNotCome) {
  fails_ = true;
  begin("a");
  EXPECT_EQ(meter_.gauges, (std::array<int, 4>{}));
  gate_.emplace();
  Use& first = begin("a");
  begin("a");
  Use& third = begin("a");
  drop(third);
  drop(first);
  EXPECT_EQ(meter_.gauges, (std::array<int, 4>{0, 0, 1, 0}));
  EXPECT_EQ(meter_.waits.size(), 0U) << "nobody knows how long it would have waited";
}

TEST_F(PoolTest, WhereConnectionsMayBeSharedTheFirstIsWaitedFor) {
  sharing_ = Pool::Sharing::Possible;
  streams_ = 3;
  gate_.emplace();
  Use& first = begin("a");
  Use& second = begin("a");
  Use& third = begin("a");
  Use& fourth = begin("a");
  begin("b");
  EXPECT_EQ(pool_->size(), 2U);
  gate_->set();
  settle();
  EXPECT_EQ(first.name + second.name + third.name, "a1a1a1");
  EXPECT_EQ(fourth.name, "a3");
  EXPECT_EQ(pool_->size(), 3U);
}

TEST_F(PoolTest, WhereTheFirstHasNoRoomForOthersTheyMakeTheirs) {
  sharing_ = Pool::Sharing::Possible;
  make({.per_host = 3, .total = 3, .idle = 50s});
  EXPECT_EQ(begin_three(), 1U);
  EXPECT_EQ(pool_->size(), 3U);
  // That is remembered even if no connection is left.
  forget_all();
  streams_ = 3;
  EXPECT_EQ(begin_three(), 3U);
  // The last connections turned out to have room.
  forget_all();
  EXPECT_EQ(begin_three(), 1U);
}

TEST_F(PoolTest, WhereTheFirstFailsTheOthersTryAllAtOnce) {
  sharing_ = Pool::Sharing::Possible;
  fails_ = true;
  gate_.emplace();
  Use& first = begin("a");
  Use& second = begin("a");
  Use& third = begin("a");
  gate_->set();
  gate_.emplace();
  settle();
  EXPECT_EQ(first.name, "refused");
  EXPECT_EQ(second.name + third.name, "");
  EXPECT_EQ(pool_->size(), 2U);
  gate_->set();
  settle();
  EXPECT_EQ(second.name + third.name, "refusedrefused");
  EXPECT_EQ(pool_->size(), 0U);
}

TEST_F(PoolTest, WhereWhoMakesTheFirstIsDroppedTheNextDoes) {
  sharing_ = Pool::Sharing::Possible;
  streams_ = 3;
  gate_.emplace();
  Use& first = begin("a");
  Use& second = begin("a");
  Use& third = begin("a");
  drop(first);
  EXPECT_EQ(pool_->size(), 1U);
  gate_->set();
  settle();
  EXPECT_EQ(second.name + third.name, "a1a1");
}

TEST_F(PoolTest, TheFirstIsNotWaitedForLongerThanForAnyOther) {
  sharing_ = Pool::Sharing::Possible;
  gate_.emplace();
  begin("a");
  Use& hasty = begin("a", Duration(0));
  EXPECT_EQ(pool_->size(), 2U);
  Use& late = begin("a", 1s);
  advance(2s);
  EXPECT_EQ(late.name,
            "could not get one of the connections to a, which are all in use: none became free "
            "within 1 s (ClientTimeouts::queue)");
  gate_->set();
  settle();
  EXPECT_EQ(hasty.name, "a2");
}

TEST_F(PoolTest, WhatCannotBeUsedAgainIsClosed) {
  Use& first = begin("a");
  begin("a");
  Use& third = begin("a");
  dies_ = true;
  end(first);
  EXPECT_EQ(third.name, "a3");
}

TEST_F(PoolTest, ClosingAllWaitsForThoseInUse) {
  Use& first = begin("a");
  Use& second = begin("b");
  end(second);
  pool_->close_all();
  EXPECT_EQ(pool_->size(), 1U);
  end(first);
  EXPECT_EQ(pool_->size(), 0U);
}

TEST_F(PoolTest, WhoWaitsForTheEndIsToldOfWhatIsNeverMade) {
  const auto wait = [this](bool& is_over) -> Task<> {
    co_await pool_->closed();
    is_over = true;
  };
  for (const bool is_dropped : {false, true}) {
    gate_.emplace();
    fails_ = true;
    Use& connecting = begin("a");
    pool_->close_all();
    bool is_over = false;
    std::optional<Task<>> waiting;
    loop_->post([&] {
      waiting.emplace(wait(is_over));
      waiting->start(nullptr, nullptr);
    });
    settle();
    EXPECT_FALSE(is_over);
    if (is_dropped) {
      drop(connecting);
    } else {
      gate_->set();
      settle();
    }
    EXPECT_TRUE(is_over) << is_dropped;
  }
}

TEST_F(PoolTest, IdleConnectionsMayBeKeptForGood) {
  make({.per_host = 2, .total = 3, .idle = Duration::max()});
  advance(1s);
  end(begin("a"));
  advance(24h * 3650);
  EXPECT_EQ(pool_->idle_count(), 1U);
}

}  // namespace
}  // namespace skua::client
