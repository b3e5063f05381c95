// SPDX-License-Identifier: MIT
#include "loop/signal.hpp"

#include <signal.h>

#include <gtest/gtest.h>

namespace skua::loop {
namespace {

TEST(SignalWatcher, DeliversSignalsOnTheLoop) {
  const auto loop = *Loop::create();
  std::vector<int> seen;
  const auto watcher = *SignalWatcher::create(*loop, {SIGINT, SIGTERM, SIGBREAK}, [&](int signal) {
    seen.push_back(signal);
    if (seen.size() == 4) loop->stop();
  });
  ::raise(SIGINT);
  ::raise(SIGTERM);
  ::raise(SIGBREAK);
  ::raise(SIGINT);  // not only once, as is Windows's default
  EXPECT_TRUE(seen.empty());
  loop->run();
  EXPECT_EQ(seen, (std::vector<int>{SIGINT, SIGTERM, SIGBREAK, SIGINT}));
}

TEST(SignalWatcher, RestoresTheFormerDispositions) {
  const auto loop = *Loop::create();
  ::signal(SIGTERM, SIG_IGN);
  {
    const auto watcher = *SignalWatcher::create(*loop, {SIGTERM}, [](int) { FAIL(); });
  }
  EXPECT_EQ(::signal(SIGTERM, SIG_DFL), SIG_IGN);
  loop->run_once(Duration::zero());
}

TEST(SignalWatcher, RefusesASecondWatcherAndWhatCannotBeCaught) {
  const auto loop = *Loop::create();
  const auto first = SignalWatcher::create(*loop, {SIGTERM}, [](int) {});
  ASSERT_TRUE(first);
  EXPECT_EQ(SignalWatcher::create(*loop, {SIGTERM}, [](int) {}).error().code(), Errc::Unsupported);
  EXPECT_EQ(SignalWatcher::create(*loop, {4711}, [](int) {}).error().code(), Errc::Unsupported);
}

}  // namespace
}  // namespace skua::loop
