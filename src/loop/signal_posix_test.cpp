// SPDX-License-Identifier: MIT
#include "loop/signal.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <thread>
#include <vector>

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

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(SignalWatcher, LeavesSignalsOfAForkedChildToTheChild) {
  const auto loop = *Loop::create();
  int count = 0;
  const auto watcher = *SignalWatcher::create(*loop, {SIGTERM}, [&](int) { ++count; });
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) ::pause();
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, SIGTERM), 0);
  const int status = status_of(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  for (int turn = 0; turn < 3; ++turn) loop->run_once(Duration::zero());
  EXPECT_EQ(count, 0);
  ::raise(SIGTERM);
  for (int turn = 0; turn < 3; ++turn) loop->run_once(Duration::zero());
  EXPECT_EQ(count, 1);
}

TEST(SignalWatcher, AForkedChildIgnoresWhatWasIgnoredAndMayWatchForItself) {
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction original{};
  ::sigaction(SIGHUP, &ignore, &original);
  {
    const auto loop = *Loop::create();
    const auto watcher = *SignalWatcher::create(*loop, {SIGHUP, SIGTERM}, [](int) {});
    const pid_t child = ::fork();
    if (child == 0) {
      ::raise(SIGHUP);
      const auto own = Loop::create();
      if (!own) ::_exit(1);
      int count = 0;
      const auto watched = SignalWatcher::create(**own, {SIGTERM}, [&](int) { ++count; });
      ::raise(SIGTERM);
      for (int turn = 0; turn < 3; ++turn) (*own)->run_once(Duration::zero());
      ::_exit(watched && count == 1 ? 0 : 2);
    }
    ASSERT_GT(child, 0);
    const int status = status_of(child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  ::sigaction(SIGHUP, &original, nullptr);
}

// Watches the signals, each on a thread of its own and all at the same moment. Returns how many of
// them arrive.
int arriving_at_threads(std::initializer_list<int> signals) {
  std::atomic<std::size_t> ready{0};
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (const int signal : signals) {
    threads.emplace_back([&, signal, count = signals.size()] {
      const auto loop = Loop::create();
      if (!loop) return;
      ++ready;
      while (ready < count) {
      }
      bool has_arrived = false;
      const auto watched =
          SignalWatcher::create(**loop, {signal}, [&](int) { has_arrived = true; });
      ++ready;
      while (ready < 2 * count) {
      }
      ::raise(signal);
      for (int turn = 0; watched && turn < 3; ++turn) (*loop)->run_once(Duration::zero());
      if (has_arrived) ++arrived;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return arrived;
}

// The first of them clears the table, which must not lose what the other one stores. A child has
// a table to clear, and each one tries once.
TEST(SignalWatcher, TwoThreadsMayBothBeTheFirst) {
  const auto loop = *Loop::create();
  const auto watcher = *SignalWatcher::create(*loop, {SIGTERM, SIGHUP}, [](int) {});
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(arriving_at_threads({SIGHUP, SIGTERM}) == 2 ? 0 : 1);
    ASSERT_GT(child, 0);
    const int status = status_of(child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << " at " << i;
  }
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
