// SPDX-License-Identifier: MIT
#include "loop/signal.hpp"

#include <signal.h>

#include <gtest/gtest.h>

namespace skua::loop {
namespace {

void ignore_by_function(int /*signal*/) {}

TEST(SignalWatcher, DeliversSignalsOnTheLoop) {
  const auto loop = *Loop::create();
  std::vector<int> seen;
  const auto watcher = *SignalWatcher::create(*loop, {SIGTERM, SIGHUP}, [&](int signal) {
    seen.push_back(signal);
    if (seen.size() == 2) loop->stop();
  });
  ::raise(SIGHUP);
  ::raise(SIGTERM);
  EXPECT_TRUE(seen.empty());
  loop->run();
  EXPECT_EQ(seen, (std::vector<int>{SIGHUP, SIGTERM}));
}

TEST(SignalWatcher, RestoresTheFormerDispositions) {
  const auto loop = *Loop::create();
  struct sigaction mine{};
  mine.sa_handler = ignore_by_function;
  struct sigaction original{};
  ::sigaction(SIGHUP, &mine, &original);
  {
    const auto watcher = *SignalWatcher::create(*loop, {SIGHUP}, [](int) { FAIL(); });
  }
  struct sigaction now{};
  ::sigaction(SIGHUP, &original, &now);
  EXPECT_EQ(now.sa_handler, ignore_by_function);
  loop->run_once(Duration::zero());
}

TEST(SignalWatcher, MayBeDestroyedInsideItsCallback) {
  const auto loop = *Loop::create();
  std::unique_ptr<SignalWatcher> watcher;
  int count = 0;
  watcher = *SignalWatcher::create(*loop, {SIGTERM}, [&](int) {
    ++count;
    watcher.reset();
    loop->stop();
  });
  ::raise(SIGTERM);
  ::raise(SIGTERM);
  loop->run();
  loop->run_once(Duration::zero());
  EXPECT_EQ(count, 1);
}

TEST(SignalWatcher, RefusesASecondWatcherAndWhatCannotBeCaught) {
  const auto loop = *Loop::create();
  const auto first = SignalWatcher::create(*loop, {SIGTERM}, [](int) {});
  ASSERT_TRUE(first);
  EXPECT_EQ(SignalWatcher::create(*loop, {SIGTERM}, [](int) {}).error().code(), Errc::Unsupported);
  EXPECT_EQ(SignalWatcher::create(*loop, {SIGKILL}, [](int) {}).error().code(), Errc::Unsupported);
  EXPECT_EQ(SignalWatcher::create(*loop, {4711}, [](int) {}).error().code(), Errc::Unsupported);
}

}  // namespace
}  // namespace skua::loop
