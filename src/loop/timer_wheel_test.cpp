// SPDX-License-Identifier: MIT
#include "loop/timer_wheel.hpp"

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::loop {
namespace {

/// A timer with any function as its callback.
struct TestTimer {
  TestTimer(TimerWheel& wheel, std::function<void()> what)
      : task(std::move(what)), timer(wheel, call_member<&TestTimer::fire>, this) {}
  void fire() {
    ++fired;
    if (const auto todo = task) todo();
  }
  std::function<void()> task;
  int fired = 0;
  Timer timer;
};

class TimerWheelTest : public testing::Test {
 protected:
  void pass(Duration time) {
    clock.advance(time);
    wheel.forget_now();
    wheel.advance();
  }
  ManualClock clock;
  TimerWheel wheel{clock};
};

TEST_F(TimerWheelTest, FiresOnceAndNeverEarly) {
  TestTimer timer(wheel, nullptr);
  timer.timer.start(5ms);
  EXPECT_TRUE(timer.timer.is_running());
  pass(4999us);
  EXPECT_EQ(timer.fired, 0);
  pass(1us);
  EXPECT_EQ(timer.fired, 1);
  EXPECT_FALSE(timer.timer.is_running());
  pass(1h);
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, RoundsAFractionOfATickUp) {
  TestTimer timer(wheel, nullptr);
  timer.timer.start(1us);
  wheel.advance();
  EXPECT_EQ(timer.fired, 0);
  pass(1ms);
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, NoDelayFiresAtTheNextAdvance) {
  TestTimer timer(wheel, nullptr);
  timer.timer.start(Duration::zero());
  EXPECT_EQ(wheel.time_to_next(), Duration::zero());
  wheel.advance();
  EXPECT_EQ(timer.fired, 1);
  timer.timer.start(-1s);
  wheel.advance();
  EXPECT_EQ(timer.fired, 2);
}

TEST_F(TimerWheelTest, ReachesEveryLevel) {
  for (const Duration delay :
       {Duration(63ms), Duration(64ms), Duration(65ms), Duration(4095ms), Duration(4097ms),
        Duration(5min), Duration(5h), Duration(24h * 30), Duration(24h * 365 * 10)}) {
    TestTimer timer(wheel, nullptr);
    timer.timer.start(delay);
    pass(delay - 1ms);
    EXPECT_EQ(timer.fired, 0) << delay.count();
    pass(1ms);
    EXPECT_EQ(timer.fired, 1) << delay.count();
  }
}

TEST_F(TimerWheelTest, ADelayBeyondAllTimeDoesNotOverflow) {
  TestTimer timer(wheel, nullptr);
  timer.timer.start(Duration::max());
  pass(24h * 365);
  EXPECT_EQ(timer.fired, 0);
  EXPECT_TRUE(timer.timer.is_running());
}

TEST_F(TimerWheelTest, StopsAndRestarts) {
  TestTimer timer(wheel, nullptr);
  timer.timer.start(10ms);
  timer.timer.stop();
  EXPECT_FALSE(timer.timer.is_running());
  pass(20ms);
  EXPECT_EQ(timer.fired, 0);
  timer.timer.start(10ms);
  timer.timer.stop();
  timer.timer.start(20ms);
  pass(19ms);
  EXPECT_EQ(timer.fired, 0);
  pass(1ms);
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, ARestartMovesItLaterOrEarlier) {
  TestTimer timer(wheel, nullptr);
  timer.timer.start(100ms);
  for (int i = 0; i < 50; ++i) {
    pass(90ms);
    timer.timer.start(100ms);
  }
  EXPECT_EQ(timer.fired, 0);
  timer.timer.start(10ms);
  pass(10ms);
  EXPECT_EQ(timer.fired, 1);
}

TEST_F(TimerWheelTest, FiresInTheOrderOfTimeThenOfStarting) {
  std::string order;
  TestTimer a(wheel, [&] { order += 'a'; });
  TestTimer b(wheel, [&] { order += 'b'; });
  TestTimer c(wheel, [&] { order += 'c'; });
  TestTimer d(wheel, [&] { order += 'd'; });
  d.timer.start(5s);
  b.timer.start(200ms);
  c.timer.start(200ms);
  a.timer.start(3ms);
  pass(10s);
  EXPECT_EQ(order, "abcd");
}

TEST_F(TimerWheelTest, ACallbackMayStartStopAndDestroyAnyTimer) {
  auto victim = std::make_unique<TestTimer>(wheel, nullptr);
  TestTimer stopped(wheel, nullptr);
  TestTimer started(wheel, nullptr);
  TestTimer again(wheel, nullptr);
  int rounds = 0;
  again.task = [&] {
    victim.reset();
    stopped.timer.stop();
    started.timer.start(5ms);
    if (++rounds < 3) again.timer.start(10ms);
  };
  again.timer.start(10ms);  // first in its slot, so the others follow
  victim->timer.start(10ms);
  stopped.timer.start(10ms);
  pass(10ms);
  EXPECT_EQ(stopped.fired, 0);
  EXPECT_EQ(started.fired, 0);
  pass(5ms);
  EXPECT_EQ(started.fired, 1);
  pass(50ms);
  EXPECT_EQ(again.fired, 2);  // restarted from the time of the turn, not from its deadline
  pass(10ms);
  EXPECT_EQ(again.fired, 3);
}

TEST_F(TimerWheelTest, ACallbackMayDestroyItsOwnTimer) {
  std::unique_ptr<TestTimer> timer;
  bool is_called = false;
  timer = std::make_unique<TestTimer>(wheel, [&] {
    is_called = true;
    timer.reset();
  });
  timer->timer.start(1ms);
  pass(1ms);
  EXPECT_TRUE(is_called);
}

TEST_F(TimerWheelTest, RestartingWithoutDelayDoesNotLoopForEver) {
  TestTimer timer(wheel, nullptr);
  timer.task = [&] { timer.timer.start(Duration::zero()); };
  timer.timer.start(Duration::zero());
  wheel.advance();
  wheel.advance();
  pass(10ms);
  EXPECT_EQ(timer.fired, 3);
}

TEST_F(TimerWheelTest, NextIsNeverLaterThanTheFirstDeadline) {
  EXPECT_EQ(wheel.time_to_next(), std::nullopt);
  TestTimer timer(wheel, nullptr);
  timer.timer.start(40ms);
  EXPECT_EQ(wheel.time_to_next(), Duration(40ms));
  timer.timer.start(10s);
  // Early wake-ups are allowed, but only few.
  int steps = 0;
  while (timer.fired == 0 && ++steps < 10) {
    const auto next = wheel.time_to_next();
    ASSERT_TRUE(next.has_value());
    pass(*next);
  }
  EXPECT_EQ(wheel.now(), Instant(Duration(10s)));
}

TEST_F(TimerWheelTest, AgreesWithAListOfDeadlinesUnderRandomUse) {
  std::mt19937 random(7);
  std::vector<std::unique_ptr<TestTimer>> timers;
  std::vector<Duration> deadlines(200, Duration::max());
  Duration now{};
  int wrong = 0;
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    timers.push_back(std::make_unique<TestTimer>(wheel, [&, i] {
      if (deadlines[i] > now) ++wrong;
      deadlines[i] = Duration::max();
    }));
  }
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t i = random() % deadlines.size();
    if (random() % 4 == 0) {
      timers[i]->timer.stop();
      deadlines[i] = Duration::max();
    } else {
      const auto delay = std::chrono::milliseconds(random() % (1U << (random() % 20)));
      timers[i]->timer.start(delay);
      deadlines[i] = now + delay;
    }
    const auto time = std::chrono::milliseconds(random() % 50);
    now += time;
    pass(time);
    for (std::size_t k = 0; k < deadlines.size(); ++k) {
      wrong += deadlines[k] <= now ? 1 : 0;  // due, but has not fired
      wrong += timers[k]->timer.is_running() != (deadlines[k] != Duration::max()) ? 1 : 0;
    }
    ASSERT_EQ(wrong, 0) << "step " << step;
  }
}

TEST_F(TimerWheelTest, ATimerMayOutliveTheWheel) {
  auto other = std::make_unique<TimerWheel>(clock);
  TestTimer timer(*other, nullptr);
  timer.timer.start(1s);
  other.reset();
  EXPECT_FALSE(timer.timer.is_running());
}

}  // namespace
}  // namespace skua::loop
