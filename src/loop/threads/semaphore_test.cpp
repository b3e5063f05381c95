// SPDX-License-Identifier: MIT
#include "async/semaphore.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "loop/threads/thread.hpp"
#include "skua/async.hpp"

namespace skua::async {
namespace {

using namespace std::chrono_literals;
using Permit = Semaphore::Permit;

class SemaphoreTest : public ::testing::Test {
 protected:
  void turn() {
    for (int turns = 0; turns < 3; ++turns) loop_->run_once(Duration(0));
  }
  /// Starts a task on the loop.
  template <class T>
  void start(Task<T>& task) {
    loop_->post([&task] { task.start([](void*) noexcept {}, nullptr); });
    turn();
  }

  const std::unique_ptr<loop::Loop> loop_ = loop::Loop::create().value();
  const Semaphore semaphore_{1};
};

TEST_F(SemaphoreTest, GivesAsManyPermitsAsThereAre) {
  const Semaphore two(2);
  Permit first = two.try_acquire();
  const Permit second = two.try_acquire();
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(two.try_acquire());
  Permit copy = first;
  first.reset();
  EXPECT_FALSE(two.try_acquire()) << "a copy has it";
  copy.reset();
  EXPECT_TRUE(two.try_acquire());
  EXPECT_FALSE(Semaphore(0).try_acquire());
}

TEST_F(SemaphoreTest, DoesNotWaitForAPermitThatIsThere) {
  Task<Permit> task = semaphore_.acquire(0s);
  start(task);
  ASSERT_TRUE(task.is_done());
  EXPECT_TRUE(task.result());
  EXPECT_TRUE(semaphore_.try_acquire()) << "nobody has it any more";
}

TEST_F(SemaphoreTest, ServesInTheOrderOfArrival) {
  Permit held = semaphore_.try_acquire();
  Task<Permit> first = semaphore_.acquire(1h);
  Task<Permit> second = semaphore_.acquire(1h);
  start(first);
  start(second);
  held.reset();
  EXPECT_FALSE(semaphore_.try_acquire()) << "others came before";
  turn();
  ASSERT_TRUE(first.is_done());
  EXPECT_FALSE(second.is_done());
  held = first.result();
  held.reset();
  turn();
  ASSERT_TRUE(second.is_done());
  EXPECT_TRUE(second.result());
}

TEST_F(SemaphoreTest, ReturnsNothingOnceThePatienceIsOver) {
  const Permit held = semaphore_.try_acquire();
  Task<Permit> task = semaphore_.acquire(1ms);
  start(task);
  while (!task.is_done()) loop_->run_once(Duration(-1));
  EXPECT_FALSE(task.result());
}

TEST_F(SemaphoreTest, WhoLeavesGivesWayToTheNext) {
  Permit held = semaphore_.try_acquire();
  std::optional<Task<Permit>> first(semaphore_.acquire(1h));
  std::optional<Task<Permit>> second(semaphore_.acquire(1h));
  Task<Permit> third = semaphore_.acquire(1h);
  start(*first);
  start(*second);
  start(third);
  first.reset();
  held.reset();    // gives it to the second,
  second.reset();  // which has gone before it heard of that
  turn();
  ASSERT_TRUE(third.is_done());
  EXPECT_TRUE(third.result());
}

TEST_F(SemaphoreTest, MayEndBeforeItsPermits) {
  std::optional<Semaphore> semaphore(std::in_place, 1);
  Permit held = semaphore->try_acquire();
  Task<Permit> task = semaphore->acquire(1h);
  start(task);
  semaphore.reset();
  held.reset();
  turn();
  ASSERT_TRUE(task.is_done());
  EXPECT_TRUE(task.result());
}

// Each of many tasks on some threads takes the permit in turn, and none is left waiting.
TEST_F(SemaphoreTest, OnePermitGoesRoundManyThreads) {
  constexpr int threads = 4;
  constexpr int tasks = 200;
  std::atomic<int> holders = 0;
  std::atomic<int> served = 0;
  std::atomic<int> clashes = 0;
  const auto work = [&, semaphore = semaphore_]() -> Task<> {
    auto waiting = semaphore.acquire(1min);
    const Permit permit = co_await waiting;
    if (!permit || ++holders != 1) ++clashes;
    co_await yield();
    --holders;
    ++served;
  };
  std::vector<std::unique_ptr<Scope>> scopes(threads);
  std::vector<std::unique_ptr<loop::Thread>> crew;
  for (std::unique_ptr<Scope>& scope : scopes) {
    const auto begin = [&scope, &work] {
      scope = std::make_unique<Scope>();
      for (int i = 0; i < tasks; ++i) scope->spawn(work());
    };
    crew.push_back(std::make_unique<loop::Thread>(loop::Thread::Options{}, begin,
                                                  [&scope] { scope.reset(); }));
  }
  while (served < threads * tasks) loop_->run_once(1ms);
  crew.clear();
  EXPECT_EQ(clashes, 0);
  EXPECT_TRUE(semaphore_.try_acquire());
}

// Threads end while their tasks wait, or have been given the permit and do not know yet.
TEST_F(SemaphoreTest, ThreadsThatEndLoseNoPermit) {
  for (int round = 0; round < 50; ++round) {
    Permit held = semaphore_.try_acquire();
    ASSERT_TRUE(held);
    Task<Permit> waiting = semaphore_.acquire(1min);
    std::optional<Task<Permit>> leaving;
    {
      const auto begin = [&] {
        leaving = semaphore_.acquire(1min);
        leaving->start([](void*) noexcept {}, nullptr);
      };
      const loop::Thread thread({}, begin, [&leaving] { leaving.reset(); });
      start(waiting);
      held.reset();
    }
    while (!waiting.is_done()) loop_->run_once(Duration(-1));
    EXPECT_TRUE(waiting.result());
  }
}

}  // namespace
}  // namespace skua::async
