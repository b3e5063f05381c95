// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/async.hpp"

namespace skua::loop {
namespace {

class CoroutineOnALoop : public ::testing::Test {
 protected:
  template <class T>
  void start(Task<T>& task) {
    loop_->post([&task] { task.start(nullptr, nullptr); });
    loop_->run_once(Duration(0));
  }
  void settle() {
    for (int i = 0; i < 4; ++i) loop_->run_once(Duration(0));
  }

  ManualClock clock_;
  std::unique_ptr<Loop> loop_ = Loop::create({.clock = &clock_}).value();
};

TEST_F(CoroutineOnALoop, SleepsAsLongAsItIsToldAndNotLess) {
  Task<> task = sleep(1s);
  start(task);
  clock_.advance(900ms);
  settle();
  EXPECT_FALSE(task.is_done());
  clock_.advance(200ms);
  settle();
  EXPECT_TRUE(task.is_done());
}

TEST_F(CoroutineOnALoop, ASleepThatIsDroppedStopsItsTimer) {
  {
    Task<> task = sleep(1s);
    start(task);
  }
  clock_.advance(2s);
  settle();
}

TEST_F(CoroutineOnALoop, OffloadsToAnotherThreadAndComesBack) {
  WorkerPool pool(2, 4);
  loop_->use_pool(&pool);
  Task<bool> task = []() -> Task<bool> {
    const auto here = std::this_thread::get_id();
    const auto there = co_await offload([] { return std::this_thread::get_id(); });
    co_return here == std::this_thread::get_id() && here != there;
  }();
  start(task);
  while (!task.is_done()) loop_->run_once(Duration(-1));
  EXPECT_TRUE(task.result());
}

TEST_F(CoroutineOnALoop, AnOffloadedCallMayThrow) {
  WorkerPool pool(1, 1);
  loop_->use_pool(&pool);
  Task<int> task = offload([]() -> int { throw std::runtime_error("there"); });
  start(task);
  while (!task.is_done()) loop_->run_once(Duration(-1));
  EXPECT_THROW(task.result(), std::runtime_error);
}

TEST_F(CoroutineOnALoop, RefusesToOffloadWhenTheQueueIsFull) {
  WorkerPool pool(1, 1);
  loop_->use_pool(&pool);
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  const auto block = [opened] { opened.wait(); };
  std::promise<void> begun;
  const auto begin = [&begun, opened] {
    begun.set_value();
    opened.wait();
  };
  Task<> running = offload(begin);
  start(running);
  begun.get_future().wait();
  Task<> queued = offload(block);
  start(queued);
  Task<> refused = offload(block);
  start(refused);
  ASSERT_TRUE(refused.is_done());
  try {
    refused.result();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code(), Errc::Overloaded);
  }
  gate.set_value();
  while (!running.is_done() || !queued.is_done()) loop_->run_once(Duration(-1));
}

TEST_F(CoroutineOnALoop, AnOffloadWhoseTaskIsDroppedEndsByItself) {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  const auto counted = std::make_shared<std::atomic<int>>(0);
  {
    WorkerPool pool(1, 1);
    loop_->use_pool(&pool);
    std::promise<void> begun;
    {
      const auto call = [&begun, opened, counted] {
        begun.set_value();
        opened.wait();
        ++*counted;
      };
      Task<> task = offload(call);
      start(task);
      begun.get_future().wait();
    }
    gate.set_value();
  }
  settle();
  EXPECT_EQ(*counted, 1);
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_F(CoroutineOnALoop, AMailboxOutlivesItsLoop) {
  const std::shared_ptr<Mailbox> mailbox = loop_->mailbox();
  EXPECT_TRUE(mailbox->post([] {}));
  loop_.reset();
  EXPECT_FALSE(mailbox->post([] {}));
}

TEST(Run, DrivesATaskToItsEnd) {
  EXPECT_EQ(run([]() -> Task<int> {
              co_await sleep(1ms);
              const int answer = co_await offload([] { return 7; });
              co_return answer;
            }()),
            7);
  EXPECT_THROW(run([]() -> Task<> {
                 co_await sleep(1ms);
                 throw std::runtime_error("out");
               }()),
               std::runtime_error);
}

TEST(WorkerPool, MakesEveryCallThatItTakes) {
  std::atomic<int> made{0};
  int taken = 0;
  {
    WorkerPool pool(3, 1000);
    std::promise<void> all;
    for (int i = 0; i < 500; ++i) {
      if (pool.submit([&] {
            if (++made == 500) all.set_value();
          })) {
        ++taken;
      }
    }
    ASSERT_EQ(taken, 500);
    all.get_future().wait();
  }
  EXPECT_EQ(made, 500);
}

TEST(WorkerPool, MayBeDestroyedByOneOfItsCalls) {
  auto pool = std::make_unique<WorkerPool>(2, 10);
  EXPECT_FALSE(pool->is_own_thread());
  std::promise<bool> dropped;
  ASSERT_TRUE(pool->submit([&] {
    const bool was_own = pool->is_own_thread();
    pool.reset();
    dropped.set_value(was_own);
  }));
  EXPECT_TRUE(dropped.get_future().get());
}

TEST(WorkerPool, LocksNothingWhileItDestroysACall) {
  struct SubmitsAtItsEnd {
    explicit SubmitsAtItsEnd(WorkerPool& its_pool, std::promise<bool>& its_end)
        : pool(its_pool), end(its_end) {}
    SubmitsAtItsEnd(const SubmitsAtItsEnd&) = delete;
    SubmitsAtItsEnd& operator=(const SubmitsAtItsEnd&) = delete;
    ~SubmitsAtItsEnd() {
      end.set_value(pool.submit([] {}));
    }
    WorkerPool& pool;
    std::promise<bool>& end;
  };
  std::promise<bool> made;
  std::promise<bool> dropped;
  std::promise<void> begun;
  std::shared_future<bool> is_taken = dropped.get_future().share();
  {
    WorkerPool pool(1, 10);
    ASSERT_TRUE(pool.submit([last = std::make_shared<SubmitsAtItsEnd>(pool, made)] {}));
    EXPECT_TRUE(made.get_future().get());
    ASSERT_TRUE(pool.submit([&begun, is_taken] {
      begun.set_value();
      EXPECT_FALSE(is_taken.get());
    }));
    begun.get_future().wait();
    ASSERT_TRUE(pool.submit([last = std::make_shared<SubmitsAtItsEnd>(pool, dropped)] {}));
  }
}

}  // namespace
}  // namespace skua::loop
