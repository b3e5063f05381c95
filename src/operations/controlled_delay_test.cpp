// SPDX-License-Identifier: MIT
#include "operations/controlled_delay.hpp"

#include <gtest/gtest.h>

namespace skua::operations {
namespace {

class ControlledDelayTest : public ::testing::Test {
 protected:
  // Returns how many of ten that follow each other in 100 ms, and have waited this long, it
  // refuses.
  int refused(Duration waited) {
    int count = 0;
    for (int i = 0; i < 10; ++i) {
      now_ += 10ms;
      count += delay_.refuses(waited, now_) ? 1 : 0;
    }
    return count;
  }

  loop::Instant now_{1h};
  ControlledDelay delay_{20ms, 100ms};
};

TEST_F(ControlledDelayTest, ShortWaitsAreFine) {
  EXPECT_EQ(refused(19ms), 0);
  EXPECT_EQ(refused(19ms), 0);
}

TEST_F(ControlledDelayTest, ABurstIsNoOverload) {
  EXPECT_EQ(refused(90ms), 0);
  EXPECT_FALSE(delay_.refuses(0ms, now_));
  EXPECT_EQ(refused(90ms), 0);
}

TEST_F(ControlledDelayTest, WaitsThatStayLongAreRefused) {
  EXPECT_EQ(refused(90ms), 0);
  EXPECT_EQ(refused(90ms), 10);
}

TEST_F(ControlledDelayTest, ThoseThatWaitedLessAreServed) {
  EXPECT_EQ(refused(90ms), 0);
  EXPECT_EQ(refused(39ms), 0);
}

TEST_F(ControlledDelayTest, OneShortWaitEndsIt) {
  EXPECT_EQ(refused(90ms), 0);
  EXPECT_EQ(refused(90ms), 10);
  EXPECT_FALSE(delay_.refuses(0ms, now_));
  now_ += 100ms;
  EXPECT_EQ(refused(90ms), 0);
}

TEST_F(ControlledDelayTest, SoDoesAPause) {
  EXPECT_EQ(refused(90ms), 0);
  now_ += 1s;
  EXPECT_EQ(refused(90ms), 0);
}

}  // namespace
}  // namespace skua::operations
