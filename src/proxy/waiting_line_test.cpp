// SPDX-License-Identifier: MIT
#include "proxy/waiting_line.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

namespace skua::proxy {
namespace {

using Place = WaitingLine::Place;

class WaitingLineTest : public ::testing::Test {
 protected:
  void turn() { loop_->run_once(Duration(0)); }

  std::unique_ptr<loop::Loop> loop_ = loop::Loop::create().value();
  WaitingLine line_{3};
};

TEST_F(WaitingLineTest, CallsTheFirst) {
  const Place first(line_, *loop_);
  const Place second(line_, *loop_);
  EXPECT_TRUE(first.is_alone());
  EXPECT_FALSE(second.is_alone());
  EXPECT_EQ(line_.size(), 2U);
  line_.call_first();
  turn();
  EXPECT_TRUE(first.is_called());
  EXPECT_FALSE(second.is_called());
  EXPECT_EQ(line_.size(), 1U);
}

TEST_F(WaitingLineTest, NobodyIsCalledIfNobodyWaits) {
  line_.call_first();
  line_.call_all();
  const Place place(line_, *loop_);
  turn();
  EXPECT_FALSE(place.is_called());
}

TEST_F(WaitingLineTest, HasABound) {
  const Place a(line_, *loop_);
  const Place b(line_, *loop_);
  std::optional<Place> c(std::in_place, line_, *loop_);
  const Place d(line_, *loop_);
  EXPECT_TRUE(c->has_entered());
  EXPECT_FALSE(d.has_entered());
  c.reset();
  const Place e(line_, *loop_);
  EXPECT_TRUE(e.has_entered());
}

// It may leave because it has found what the next one waits for, too.
TEST_F(WaitingLineTest, TheFirstCallsTheNextWhenItLeaves) {
  std::optional<Place> first(std::in_place, line_, *loop_);
  const Place second(line_, *loop_);
  EXPECT_TRUE(first->is_first());
  EXPECT_FALSE(second.is_first());
  first.reset();
  turn();
  EXPECT_TRUE(second.is_called());
}

TEST_F(WaitingLineTest, AnotherOneThatLeavesIsForgotten) {
  const Place first(line_, *loop_);
  std::optional<Place> second(std::in_place, line_, *loop_);
  second.reset();
  EXPECT_EQ(line_.size(), 1U);
  turn();
  EXPECT_FALSE(first.is_called());
  EXPECT_TRUE(first.is_first());
}

TEST_F(WaitingLineTest, OneThatLeavesCalledCallsTheNext) {
  std::optional<Place> first(std::in_place, line_, *loop_);
  const Place second(line_, *loop_);
  line_.call_first();
  first.reset();  // before the call arrived
  turn();
  EXPECT_TRUE(second.is_called());
}

TEST_F(WaitingLineTest, NobodyStandsBehindARetry) {
  Place retry(line_, *loop_, true);
  const Place first(line_, *loop_);
  EXPECT_TRUE(first.is_alone());
  EXPECT_TRUE(first.is_first());
  EXPECT_TRUE(line_.has_first());
  line_.call_first();
  turn();
  EXPECT_TRUE(retry.is_called());
  EXPECT_FALSE(first.is_called());
  retry.stand_again();
  turn();
  EXPECT_TRUE(first.is_called());
  EXPECT_FALSE(line_.has_first());
  EXPECT_EQ(line_.size(), 1U);
}

// It left for a server that the retry may not go to, and the next one may.
TEST_F(WaitingLineTest, TheFirstBehindARetryCallsWhenItLeaves) {
  const Place retry(line_, *loop_, true);
  std::optional<Place> first(std::in_place, line_, *loop_);
  const Place second(line_, *loop_);
  first.reset();
  turn();
  EXPECT_TRUE(retry.is_called());
}

TEST_F(WaitingLineTest, OneThatWasTooSlowStandsWhereItStood) {
  Place first(line_, *loop_);
  const Place second(line_, *loop_);
  line_.call_first();
  turn();
  first.stand_again();
  EXPECT_FALSE(first.is_called());
  line_.call_first();
  turn();
  EXPECT_TRUE(first.is_called());
  EXPECT_FALSE(second.is_called());
}

TEST_F(WaitingLineTest, AllMayBeCalled) {
  const Place first(line_, *loop_);
  const Place second(line_, *loop_);
  line_.call_all();
  turn();
  EXPECT_TRUE(first.is_called());
  EXPECT_TRUE(second.is_called());
}

TEST_F(WaitingLineTest, AllWhoWereTooSlowStandInTheirOrder) {
  Place first(line_, *loop_);
  Place second(line_, *loop_);
  const Place third(line_, *loop_);
  line_.call_first();
  line_.call_first();
  turn();
  first.stand_again();
  second.stand_again();
  EXPECT_TRUE(first.is_first());
  for (const Place* const next : std::array<const Place*, 3>{&first, &second, &third}) {
    EXPECT_FALSE(next->is_called());
    line_.call_first();
    turn();
    EXPECT_TRUE(next->is_called());
  }
}

TEST_F(WaitingLineTest, ACallForALoopThatIsGoneGoesToTheNext) {
  std::unique_ptr<loop::Loop> other = loop::Loop::create().value();
  std::optional<Place> first(std::in_place, line_, *other);
  const Place second(line_, *loop_);
  line_.call_first();
  other.reset();
  first.reset();
  turn();
  EXPECT_TRUE(second.is_called());
}

}  // namespace
}  // namespace skua::proxy
