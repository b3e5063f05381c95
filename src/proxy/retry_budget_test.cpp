// SPDX-License-Identifier: MIT
#include "proxy/retry_budget.hpp"

#include <gtest/gtest.h>

namespace skua::proxy {
namespace {

int takes(RetryBudget& budget) {
  int count = 0;
  while (budget.take(0)) ++count;
  return count;
}

int takes_of(RetryBudget& budget, std::size_t client) {
  int count = 0;
  while (budget.take_for_answer(client)) ++count;
  return count;
}

TEST(RetryBudget, IsFullAtFirst) {
  RetryBudget budget(0.2, 10);
  EXPECT_EQ(takes(budget), 10);
}

TEST(RetryBudget, RequestsPayForAShare) {
  RetryBudget budget(0.2, 10);
  takes(budget);
  for (int i = 0; i < 4; ++i) budget.pay(0);
  EXPECT_FALSE(budget.take(0));
  budget.pay(0);
  EXPECT_TRUE(budget.take(0));
  EXPECT_FALSE(budget.take(0));
}

TEST(RetryBudget, HoldsNoMoreThanTheBurst) {
  RetryBudget budget(0.5, 3);
  for (int i = 0; i < 100; ++i) budget.pay(0);
  EXPECT_EQ(takes(budget), 3);
}

TEST(RetryBudget, WithoutABurstRequestsPayInAdvance) {
  RetryBudget budget(0.5, 0);
  EXPECT_FALSE(budget.take(0));
  budget.pay(0);
  budget.pay(0);
  EXPECT_EQ(takes(budget), 1);
}

TEST(RetryBudget, WhatWasNotNeededIsPutBack) {
  RetryBudget budget(0, 1);
  EXPECT_TRUE(budget.take(0));
  budget.give_back();
  EXPECT_EQ(takes(budget), 1);
  EXPECT_TRUE(budget.take_for_answer(7));
  budget.give_back_for_answer(7);
  EXPECT_EQ(takes_of(budget, 7), 1);
}

TEST(RetryBudget, WithoutAShareOnlyTheBurstIsThere) {
  RetryBudget budget(0, 2);
  EXPECT_EQ(takes(budget), 2);
  for (int i = 0; i < 100; ++i) budget.pay(0);
  EXPECT_EQ(takes(budget), 0);
}

TEST(RetryBudget, AClientEmptiesOnlyItsOwn) {
  RetryBudget budget(0.2, 10);
  EXPECT_EQ(takes_of(budget, 1), 10);
  EXPECT_EQ(takes_of(budget, 2), 10);
  EXPECT_EQ(takes(budget), 10);
  for (int i = 0; i < 5; ++i) budget.pay(1);
  EXPECT_EQ(takes_of(budget, 1), 1);
  EXPECT_EQ(takes_of(budget, 2), 0);
}

TEST(RetryBudget, OutstandingRequestsAreRepeatedOnCredit) {
  RetryBudget budget(0.2, 10);
  for (int i = 0; i < 110; ++i) EXPECT_TRUE(budget.take(100)) << i;
  EXPECT_FALSE(budget.take(100));
  for (int i = 0; i < 500; ++i) budget.pay(0);
  EXPECT_FALSE(budget.take(0));  // it has only paid its debt
}

}  // namespace
}  // namespace skua::proxy
