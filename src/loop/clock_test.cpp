// SPDX-License-Identifier: MIT
#include "loop/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace skua {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using Instant = std::chrono::time_point<std::chrono::steady_clock, nanoseconds>;

TEST(Later, Adds) {
  EXPECT_EQ(later(Instant(seconds(2)), nanoseconds(3)), Instant(nanoseconds(2'000'000'003)));
  EXPECT_EQ(later(Instant(seconds(2)), nanoseconds(-3)), Instant(nanoseconds(1'999'999'997)));
  EXPECT_EQ(later(sys_seconds(seconds(2)), seconds(3)), sys_seconds(seconds(5)));
}

TEST(Later, EndsAtTheLastPointOfTime) {
  EXPECT_EQ(later(Instant(nanoseconds(1)), nanoseconds::max()), Instant::max());
  EXPECT_EQ(later(Instant(nanoseconds(0)), nanoseconds::max()), Instant::max());
  EXPECT_EQ(later(Instant::max(), nanoseconds(1)), Instant::max());
  EXPECT_EQ(later(Instant(nanoseconds(-1)), nanoseconds::max()),
            Instant(nanoseconds(std::numeric_limits<nanoseconds::rep>::max() - 1)));
  EXPECT_EQ(later(Instant(nanoseconds(-1)), nanoseconds::min()), Instant::min());
  EXPECT_EQ(later(sys_seconds(seconds(1)), seconds::max()), sys_seconds::max());
}

}  // namespace
}  // namespace skua
