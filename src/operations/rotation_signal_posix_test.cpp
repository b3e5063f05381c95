// SPDX-License-Identifier: MIT
// SIGUSR1, which the system delivers once to a process: every object hears of it.
#include "operations/rotation_signal.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>

namespace skua::operations {
namespace {

using namespace std::chrono_literals;

/// Counts the signals of an object.
class Heard {
 public:
  std::function<void()> count() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  /// Waits for a number of signals.
  bool reaches(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return count_ >= count; });
    return count_ == count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

void send_signal() { ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0); }

bool is_blocked(int signal) {
  sigset_t blocked{};
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(RotationSignal, ReachesEveryObjectInAnyOrderOfDestruction) {
  for (const bool goes_older_first : {true, false}) {
    Heard by_older;
    Heard by_newer;
    std::optional<RotationSignal> older(std::in_place);
    std::optional<RotationSignal> newer(std::in_place);
    older->start(by_older.count());
    newer->start(by_newer.count());
    for (int count = 1; count <= 3; ++count) {
      send_signal();
      EXPECT_TRUE(by_older.reaches(count));
      EXPECT_TRUE(by_newer.reaches(count));
    }
    (goes_older_first ? older : newer).reset();
    EXPECT_TRUE(is_blocked(SIGUSR1)) << "it would end the process";
    send_signal();
    EXPECT_TRUE((goes_older_first ? by_newer : by_older).reaches(4));
    (goes_older_first ? newer : older).reset();
    EXPECT_TRUE((goes_older_first ? by_older : by_newer).reaches(3));
    EXPECT_FALSE(is_blocked(SIGUSR1));
  }
}

TEST(RotationSignal, IsKeptForAnObjectThatStartsLater) {
  Heard by_first;
  Heard by_second;
  RotationSignal first;
  RotationSignal second;
  send_signal();
  first.start(by_first.count());
  EXPECT_TRUE(by_first.reaches(1));
  second.start(by_second.count());
  EXPECT_TRUE(by_second.reaches(1));
  send_signal();
  EXPECT_TRUE(by_first.reaches(2));
  EXPECT_TRUE(by_second.reaches(2));
}

TEST(RotationSignal, ChangesNoOtherSignalsOfTheThread) {
  sigset_t others{};
  sigemptyset(&others);
  sigaddset(&others, SIGUSR2);
  {
    const RotationSignal signal;
    pthread_sigmask(SIG_BLOCK, &others, nullptr);
  }
  EXPECT_TRUE(is_blocked(SIGUSR2));
  pthread_sigmask(SIG_UNBLOCK, &others, nullptr);
}

TEST(RotationSignal, ThatIsPendingAtTheEndIsForgotten) {
  {
    const RotationSignal signal;
    send_signal();
  }
  EXPECT_FALSE(is_blocked(SIGUSR1));  // and the process goes on
}

}  // namespace
}  // namespace skua::operations
