// SPDX-License-Identifier: MIT
#include "proxy/retry_budget.hpp"

#include <gtest/gtest.h>

namespace skua::proxy {
namespace {

int takes(RetryBudget& budget) {
  int count = 0;
  while (budget.take()) ++count;
  return count;
}

TEST(RetryBudget, IsFullAtFirst) {
  RetryBudget budget(0.2, 10);
  EXPECT_EQ(takes(budget), 10);
}

TEST(RetryBudget, RequestsPayForAShare) {
  RetryBudget budget(0.2, 10);
  takes(budget);
  for (int i = 0; i < 4; ++i) budget.pay();
  EXPECT_FALSE(budget.take());
  budget.pay();
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
}

TEST(RetryBudget, HoldsNoMoreThanTheBurst) {
  RetryBudget budget(0.5, 3);
  for (int i = 0; i < 100; ++i) budget.pay();
  EXPECT_EQ(takes(budget), 3);
}

TEST(RetryBudget, WithoutABurstRequestsPayInAdvance) {
  RetryBudget budget(0.5, 0);
  EXPECT_FALSE(budget.take());
  budget.pay();
  budget.pay();
  EXPECT_EQ(takes(budget), 1);
}

TEST(RetryBudget, WhatWasNotNeededIsPutBack) {
  RetryBudget budget(0, 1);
  EXPECT_TRUE(budget.take());
  budget.give_back();
  EXPECT_EQ(takes(budget), 1);
}

TEST(RetryBudget, WithoutAShareOnlyTheBurstIsThere) {
  RetryBudget budget(0, 2);
  EXPECT_EQ(takes(budget), 2);
  for (int i = 0; i < 100; ++i) budget.pay();
  EXPECT_EQ(takes(budget), 0);
}

}  // namespace
}  // namespace skua::proxy
