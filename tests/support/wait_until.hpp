// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace skua::testing {

/// Waits until a condition holds that another thread makes true. Gives up after 20 s.
template <class Condition>
void wait_until(const Condition& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool is_held = holds();
  while (!is_held && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    is_held = holds();
  }
  EXPECT_TRUE(is_held) << "after 20 s";
}

}  // namespace skua::testing
