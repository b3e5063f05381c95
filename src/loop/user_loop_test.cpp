// SPDX-License-Identifier: MIT
#include <signal.h>

#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loop/clock.hpp"
#include "loop/sockets.hpp"
#include "skua/loop.hpp"
#include "skua/socket.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

class UserLoop : public ::testing::TestWithParam<BackendChoice> {
 protected:
  const std::unique_ptr<Loop> loop = Loop::create({.backend = GetParam()}).value();

  /// Runs turns until the condition holds; a test that hangs is stopped by its timer.
  template <class Condition>
  void turn_until(const Condition& condition) {
    Timer limit([] { FAIL() << "nothing happened for 10 s"; });
    limit.start(10s);
    while (!condition() && limit.is_running()) loop->poll(1s);
  }
};

Task<int> later_value(int value) {
  co_await sleep(1ms);
  co_return value;
}

TEST_P(UserLoop, IsOfTheKindThatWasAskedFor) { EXPECT_EQ(loop->backend(), GetParam()); }

TEST_P(UserLoop, RunsATaskToItsResult) { EXPECT_EQ(loop->run(later_value(7)), 7); }

TEST_P(UserLoop, SpawnedTasksRunUntilStop) {
  std::vector<int> results;
  loop->spawn(later_value(1), [&](int value) { results.push_back(value); });
  const auto stop = [&]() -> Task<> {
    co_await sleep(5ms);
    loop->stop();
  };
  loop->spawn(stop());
  loop->run();
  EXPECT_EQ(results, std::vector{1});
}

TEST_P(UserLoop, PostsOfOtherThreadsRunInOrder) {
  std::vector<int> order;
  std::thread other([&] {
    loop->post([&] { order.push_back(1); });
    loop->post([&] { order.push_back(2); });
    loop->post([&] { loop->stop(); });
  });
  loop->run();
  other.join();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

Task<> fail() {
  co_await sleep(1ms);
  throw std::runtime_error("failed");
}

TEST_P(UserLoop, ExceptionsOfTasksAndCallbacksLeaveRun) {
  loop->spawn(fail());
  EXPECT_THROW(loop->run(), std::runtime_error);
  loop->post([] { throw std::runtime_error("post"); });
  EXPECT_THROW(loop->run(), std::runtime_error);
  Timer timer([] { throw std::runtime_error("timer"); });
  timer.start(1ms);
  EXPECT_THROW(loop->run(), std::runtime_error);
  EXPECT_EQ(loop->run(later_value(2)), 2);  // it goes on afterwards
}

TEST_P(UserLoop, DropsSpawnedTasksWithTheLoop) {
  struct Dropped {
    bool* flag;
    ~Dropped() { *flag = true; }
  };
  bool is_dropped = false;
  const auto wait = [](bool* flag) -> Task<> {
    const Dropped dropped{flag};
    co_await sleep(1h);
  };
  {
    const auto other = Loop::create({.backend = GetParam()}).value();
    other->spawn(wait(&is_dropped));
    other->poll();
    EXPECT_FALSE(is_dropped);
  }
  EXPECT_TRUE(is_dropped);
}

TEST_P(UserLoop, ObjectsBelongToTheNewestLoopOfTheThread) {
  int fired = 0;
  {
    const auto newer = Loop::create({.backend = GetParam()}).value();
    Timer timer([&] { ++fired; });
    timer.start(Duration(0));
    loop->poll();
    EXPECT_EQ(fired, 0);
    while (fired == 0) newer->poll(1s);  // io_uring may interrupt a turn on its old thread
    EXPECT_EQ(fired, 1);
  }
  Timer timer([&] { ++fired; });
  timer.start(Duration(0));
  while (fired == 1) loop->poll(1s);
  EXPECT_EQ(fired, 2);
}

TEST(UserLoopThread, WithoutALoopIsALogicError) {
  std::thread([] { EXPECT_THROW(Timer([] {}), std::logic_error); }).join();
}

// A timer that is started long after the last turn must not fire early.
TEST_P(UserLoop, TimersCountFromTheirStartBetweenTurns) {
  loop->poll();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_until(begin + 30ms);  // the loop knows nothing of this time
  std::optional<std::chrono::steady_clock::time_point> fired;
  Timer timer([&] { fired = std::chrono::steady_clock::now(); });
  timer.start(20ms);
  turn_until([&] { return fired.has_value(); });
  EXPECT_GE(*fired - begin, 50ms);
}

TEST_P(UserLoop, TimersStartAnewStopAndEndInTheirCallbacks) {
  int fired = 0;
  std::optional<Timer> timer;
  timer.emplace([&] {
    if (++fired < 3) return timer->start(1ms);
    timer.reset();
  });
  timer->start(1ms);
  turn_until([&] { return fired == 3; });
  EXPECT_FALSE(timer.has_value());

  Timer stopped([&] { ++fired; });
  stopped.start(1ms);
  stopped.stop();
  EXPECT_FALSE(stopped.is_running());
  loop->run(later_value(0));
  EXPECT_EQ(fired, 3);
}

TEST_P(UserLoop, SignalsArriveInOrderAndWaitForTheNextCall) {
  auto signals = Signals::watch({SIGINT, SIGTERM}).value();
  ::raise(SIGINT);
  ::raise(SIGTERM);
  EXPECT_EQ(loop->run(signals.next()), SIGINT);
  EXPECT_EQ(loop->run(signals.next()), SIGTERM);
  EXPECT_EQ(Signals::watch({SIGINT}).error().code(), Errc::Unsupported);
  std::vector<int> received;
  signals.on_signal([&](int signal) { received.push_back(signal); });
  ::raise(SIGINT);
  turn_until([&] { return !received.empty(); });
  EXPECT_EQ(received, std::vector{SIGINT});
}

// A program's own poll() waits for the loop's descriptor, and for no longer than the limit.
TEST_P(UserLoop, EmbedsInAnotherLoop) {
  const bool has_descriptor =
      GetParam() != BackendChoice::Poll && GetParam() != BackendChoice::CompletionPort;
  ASSERT_EQ(loop->descriptor() >= 0, has_descriptor);
  if (!has_descriptor) return;
  loop->poll();
  EXPECT_EQ(loop->wait_limit(), Duration::max());
  const auto is_ready = [&](int milliseconds) {
    pollfd entry{};
    entry.fd = bsd::native(loop->descriptor());
    entry.events = POLLIN;
    return bsd::poll(&entry, 1, milliseconds) == 1;
  };
  EXPECT_FALSE(is_ready(0));

  bool is_posted = false;
  std::thread([&] { loop->post([&] { is_posted = true; }); }).join();
  EXPECT_TRUE(is_ready(10'000));
  loop->poll();
  EXPECT_TRUE(is_posted);

#if defined(__linux__)
  if (GetParam() == BackendChoice::Kqueue) GTEST_SKIP() << "the emulation only shows wake-ups";
#endif
  std::array<int, 2> pipe{};
  ASSERT_EQ(bsd::pair(pipe), 0);
  auto watch = DescriptorWatch::create(pipe[0]).value();
  loop->spawn(watch.readable(), [&](const Result<void>& ready) { EXPECT_TRUE(ready); });
  loop->poll();
  EXPECT_FALSE(is_ready(0));
  ASSERT_EQ(bsd::send(pipe[1], "x", 1, 0), 1);
  EXPECT_TRUE(is_ready(10'000));

  Timer timer([] {});
  timer.start(1h);
  EXPECT_GT(loop->wait_limit(), 30min);  // it may be too short, never too long
  timer.start(Duration(0));
  EXPECT_LE(loop->wait_limit(), 1ms);
  for (const int end : pipe) bsd::close(end);
}

class WatchTest : public UserLoop {
 protected:
  WatchTest() {
    EXPECT_EQ(bsd::pair(ends), 0);
    watch.emplace(DescriptorWatch::create(ends[0]).value());
  }
  ~WatchTest() override {
    watch.reset();
    for (const int end : ends) bsd::close(end);
  }
  void write() const { ASSERT_EQ(bsd::send(ends[1], "x", 1, 0), 1); }
  void read() const {
    char byte = 0;
    ASSERT_EQ(bsd::recv(ends[0], &byte, 1, 0), 1);
  }

  std::array<int, 2> ends{};
  std::optional<DescriptorWatch> watch;
};

TEST_P(WatchTest, WaitsUntilReadable) {
  EXPECT_EQ(loop->run(watch->readable(1ms)).error().code(), Errc::TimedOut);
  write();
  EXPECT_TRUE(loop->run(watch->readable()));
  EXPECT_TRUE(loop->run(watch->readable()));  // it still is
  read();
  EXPECT_EQ(loop->run(watch->readable(1ms)).error().code(), Errc::TimedOut);
}

TEST_P(WatchTest, WaitsUntilWritable) {
  auto writer = DescriptorWatch::create(ends[1]).value();
  EXPECT_TRUE(loop->run(writer.writable(1s)));
  EXPECT_TRUE(loop->run(writer.writable(1s)));
}

TEST_P(WatchTest, TheSameDescriptorIsWatchedTwice) {
  auto again = DescriptorWatch::create(ends[0]).value();
  write();
  EXPECT_TRUE(loop->run(again.readable(1s)));
  EXPECT_TRUE(loop->run(watch->readable(1s)));
}

TEST_P(WatchTest, CallsBackWhileReadable) {
  int calls = 0;
  watch->on_readable([&] {
    read();
    if (++calls == 2) watch->on_readable(nullptr);
  });
  write();
  write();
  turn_until([&] { return calls == 2; });
  write();
  loop->run(later_value(0));
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(loop->run(watch->readable(1s)));
}

TEST_P(WatchTest, ACallbackMayDestroyTheWatch) {
  bool is_called = false;
  watch->on_readable([&] {
    is_called = true;
    watch.reset();
  });
  write();
  turn_until([&] { return is_called; });
  EXPECT_FALSE(watch.has_value());
}

TEST_P(WatchTest, EndsWithClosedWhenDestroyed) {
  Errc ended = Errc::None;
  loop->spawn(watch->readable(), [&](const Result<void>& ready) { ended = ready.error().code(); });
  loop->poll();
  watch.reset();
  turn_until([&] { return ended != Errc::None; });
  EXPECT_EQ(ended, Errc::Closed);
}

TEST_P(WatchTest, HearsOfAHangUp) {
  bsd::close(std::exchange(ends[1], bsd::duplicate(ends[0])));
  EXPECT_TRUE(loop->run(watch->readable(1s)));
}

TEST_P(WatchTest, AnInvalidDescriptorIsRefused) {
  const auto refused = DescriptorWatch::create(-1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().system_code(), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, UserLoop, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);
INSTANTIATE_TEST_SUITE_P(Backends, WatchTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
