// SPDX-License-Identifier: MIT
#include "proxy/balance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace skua::proxy {
namespace {

/// Members with these weights, all of them candidates.
class BalanceTest : public ::testing::Test {
 protected:
  void add(unsigned weight, std::uint32_t outstanding = 0) {
    const std::size_t index = members_.size();
    members_.push_back(
        std::make_unique<Member>(index, "server-" + std::to_string(index), std::nullopt, weight));
    candidates_.push_back({.member = members_.back().get(),
                           .index = index,
                           .weight = double(weight),
                           .outstanding = outstanding});
  }
  // Chooses often, and counts.
  template <class Choose>
  std::vector<int> counts(int times, const Choose& choose) {
    std::vector<int> count(candidates_.size());
    for (int i = 0; i < times; ++i) ++count[choose(i)];
    return count;
  }

  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Candidate> candidates_;
  Draw draw_{7};
};

TEST_F(BalanceTest, IdleMembersGetTheirShareByWeight) {
  for (const unsigned weight : {1U, 2U, 1U}) add(weight);
  const std::vector<int> count =
      counts(10'000, [this](int) { return less_busy(candidates_, draw_); });
  // The second one is drawn first half of the time; if it is drawn second, it is less busy for its
  // weight.
  EXPECT_GT(count[1], 6'000);
  EXPECT_NEAR(count[0], count[2], 300);
}

TEST_F(BalanceTest, EqualMembersGetAsMuch) {
  for (int i = 0; i < 5; ++i) add(1);
  const std::vector<int> count =
      counts(10'000, [this](int) { return less_busy(candidates_, draw_); });
  for (const int one : count) EXPECT_NEAR(one, 2'000, 200);
}

TEST_F(BalanceTest, TheBusiestOfAllIsNeverChosen) {
  for (const std::uint32_t outstanding : {3U, 4U, 50U, 3U}) add(1, outstanding);
  const std::vector<int> count =
      counts(1'000, [this](int) { return less_busy(candidates_, draw_); });
  EXPECT_EQ(count[2], 0);
  EXPECT_GT(count[0], count[1]);
}

TEST_F(BalanceTest, ASingleMemberIsChosen) {
  add(3, 100);
  EXPECT_EQ(less_busy(candidates_, draw_), 0U);
  EXPECT_EQ(next_in_turn(candidates_), 0U);
  EXPECT_EQ(nearest(candidates_, 1, 1), 0U);
}

TEST_F(BalanceTest, TurnsAreSmooth) {
  for (const unsigned weight : {4U, 1U, 1U}) add(weight);
  std::string order;
  for (int i = 0; i < 12; ++i) order.append(std::to_string(next_in_turn(candidates_)));
  EXPECT_EQ(order, "001020001020");
}

TEST_F(BalanceTest, TurnsFollowTheWeightsExactly) {
  for (const unsigned weight : {3U, 2U, 1U}) add(weight);
  EXPECT_EQ(counts(600, [this](int) { return next_in_turn(candidates_); }),
            (std::vector<int>{300, 200, 100}));
}

TEST_F(BalanceTest, AKeyStaysWithItsMember) {
  for (int i = 0; i < 10; ++i) add(1);
  for (std::uint64_t key = 0; key < 100; ++key) {
    EXPECT_EQ(nearest(candidates_, key, 1e9), nearest(candidates_, key, 1e9));
  }
}

TEST_F(BalanceTest, KeysAreSpreadByWeight) {
  for (const unsigned weight : {1U, 2U, 1U}) add(weight);
  const std::vector<int> count = counts(20'000, [this](int i) {
    return nearest(candidates_, draw_.next() + static_cast<std::uint64_t>(i), 1e9);
  });
  EXPECT_NEAR(count[0], 5'000, 300);
  EXPECT_NEAR(count[1], 10'000, 300);
  EXPECT_NEAR(count[2], 5'000, 300);
}

TEST_F(BalanceTest, OnlyTheKeysOfAMemberThatLeavesMove) {
  for (int i = 0; i < 8; ++i) add(1);
  std::vector<Candidate> fewer = candidates_;
  fewer.erase(fewer.begin() + 3);
  int moved = 0;
  for (std::uint64_t key = 0; key < 8'000; ++key) {
    const std::size_t before = candidates_[nearest(candidates_, key, 1e9)].index;
    const std::size_t after = fewer[nearest(fewer, key, 1e9)].index;
    if (before == 3) {
      ++moved;
    } else {
      EXPECT_EQ(before, after) << key;
    }
  }
  EXPECT_NEAR(moved, 1'000, 150);
}

TEST_F(BalanceTest, ATooBusyMemberIsPassedOver) {
  for (int i = 0; i < 4; ++i) add(1, 10);
  const std::size_t own = nearest(candidates_, 42, 1.25);
  candidates_[own].outstanding = 13;  // of 43 and this one, 1.25 times a quarter is 14
  EXPECT_EQ(nearest(candidates_, 42, 1.25), own);
  candidates_[own].outstanding = 20;  // of 51: 16
  const std::size_t next = nearest(candidates_, 42, 1.25);
  EXPECT_NE(next, own);
  EXPECT_EQ(nearest(candidates_, 42, 1.25), next);
}

TEST_F(BalanceTest, AloneItIsChosenHoweverBusy) {
  add(1, 1'000);
  EXPECT_EQ(nearest(candidates_, 42, 1), 0U);
}

TEST(Draw, IsReproducible) {
  Draw one(1);
  Draw other(1);
  double sum = 0;
  for (int i = 0; i < 1'000; ++i) {
    const double unit = one.unit();
    EXPECT_EQ(unit, other.unit());
    EXPECT_GE(unit, 0);
    EXPECT_LT(unit, 1);
    sum += unit;
  }
  EXPECT_NEAR(sum, 500, 30);
}

}  // namespace
}  // namespace skua::proxy
