// SPDX-License-Identifier: MIT
// Topics keep no more of what publishers send than they need.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/allocations.hpp"
#include "topics/hub.hpp"

namespace skua::topics {
namespace {

TEST(TopicsMemory, ALongOnceIsNotKept) {
  Hub hub({}, nullptr);
  hub.publish_here("t:news", "text", "first");
  const std::int64_t before = testing::allocations().live_bytes;
  for (int i = 0; i < 100; ++i) {
    hub.publish_here("t:news", "text", std::to_string(i) + std::string(100'000, 'x'));
  }
  EXPECT_LT(testing::allocations().live_bytes - before, 100'000);
}

}  // namespace
}  // namespace skua::topics
