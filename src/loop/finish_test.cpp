// SPDX-License-Identifier: MIT
#include "skua/finish.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/loop.hpp"

namespace skua {
namespace {

constexpr int steps = 4;

struct Work {
  int begun = 0;
  int done = 0;
  int in_use = 0;
};

struct Use {
  explicit Use(Work& its_work) noexcept : work(its_work) { ++work.in_use; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { --work.in_use; }
  Work& work;
};

Task<int> work_in_steps(Work& work) {
  const Use use(work);
  ++work.begun;
  for (int i = 0; i < steps; ++i) {
    co_await yield();
    ++work.done;
  }
  co_return work.done;
}

Task<> fail_after_a_step(const char* text) {
  co_await yield();
  throw std::runtime_error(text);
}

Task<Result<int>> refuse_after_a_step() {
  co_await yield();
  co_return Error(Errc::Refused, "book");
}

class Finish : public ::testing::Test {
 protected:
  void run_turns(int count) {
    for (int i = 0; i < count; ++i) loop->run_once(Duration(0));
  }
  template <class T>
  void start(Task<T>& task) {
    const loop::Loop::Entered entered(*loop);
    task.start([](void*) noexcept {}, nullptr);
  }
  template <class T>
  void drop(std::optional<Task<T>>& task) {
    const loop::Loop::Entered entered(*loop);
    task.reset();
  }

  std::vector<std::string> lines;
  const loop::Loop::Log log = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
  const std::unique_ptr<loop::Loop> loop = *loop::Loop::create();
};

TEST_F(Finish, ReturnsTheResult) {
  Work work;
  EXPECT_EQ(run(finish(work_in_steps(work))), steps);
  EXPECT_EQ(work.in_use, 0);
}

TEST_F(Finish, ThrowsWhatTheTaskThrows) {
  EXPECT_THROW(run(finish(fail_after_a_step("no"))), std::runtime_error);
  const auto refused = run(finish(refuse_after_a_step()));
  EXPECT_EQ(refused.error().code(), Errc::Refused);
}

TEST_F(Finish, EndsWhereverItsAwaiterIsDropped) {
  for (int turns = 0; turns <= steps + 1; ++turns) {
    Work work;
    std::optional<Task<int>> awaiter = finish(work_in_steps(work));
    start(*awaiter);
    run_turns(turns);
    drop(awaiter);
    run_turns(steps + 2);
    EXPECT_EQ(work.begun, 1) << turns;
    EXPECT_EQ(work.done, steps) << turns;
    EXPECT_EQ(work.in_use, 0) << turns;
    EXPECT_EQ(loop->kept_tasks().count, 0U) << turns;
  }
}

TEST_F(Finish, DoesNotBeginIfItIsNeverAwaited) {
  Work work;
  {
    const Task<int> never = finish(work_in_steps(work));
  }
  run_turns(steps);
  EXPECT_EQ(work.begun, 0);
}

TEST_F(Finish, TellsTheLogOnceOfAFailureThatNobodyAwaits) {
  loop->use_log(&log);
  for (int turns = 0; turns <= 2; ++turns) {
    lines.clear();
    std::optional<Task<>> awaiter = finish(fail_after_a_step("the bank is closed"));
    start(*awaiter);
    run_turns(turns);
    const bool is_told = awaiter->is_done();  // then it threw at its awaiter
    drop(awaiter);
    run_turns(3);
    if (is_told) continue;
    ASSERT_EQ(lines.size(), 1U) << turns;
    EXPECT_EQ(lines[0], "a task that nobody awaits any more failed: the bank is closed");
  }
}

TEST_F(Finish, TellsTheLogOfAnErrorThatNobodyAwaits) {
  loop->use_log(&log);
  std::optional<Task<Result<int>>> awaiter = finish(refuse_after_a_step());
  start(*awaiter);
  drop(awaiter);
  run_turns(3);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("book: "), std::string::npos) << lines[0];
}

TEST_F(Finish, TellsNobodyOfAFailureThatIsAwaited) {
  loop->use_log(&log);
  Task<> awaiter = finish(fail_after_a_step("seen"));
  start(awaiter);
  run_turns(4);
  ASSERT_TRUE(awaiter.is_done());
  EXPECT_THROW(awaiter.result(), std::runtime_error);
  EXPECT_TRUE(lines.empty());
}

TEST_F(Finish, IsDroppedWithItsLoopWhichTellsOfIt) {
  Work work;
  std::vector<std::string> told;
  const loop::Loop::Log keep = [&](LogLevel, std::string_view line) { told.emplace_back(line); };
  {
    const std::unique_ptr<loop::Loop> own = *loop::Loop::create();
    own->use_log(&keep);
    own->post([&] {
      Task<int> awaiter = finish(work_in_steps(work));
      awaiter.start([](void*) noexcept {}, nullptr);
    });
    own->run_once(Duration(0));
    EXPECT_EQ(own->kept_tasks().count, 1U);
    EXPECT_EQ(work.in_use, 1);
  }
  EXPECT_EQ(work.in_use, 0);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0], "time was up for tasks of skua::finish() that had not ended: 1");
}

/// Calls the pool when it ends, as an upload does to close its file elsewhere.
struct CallsThePool {
  explicit CallsThePool(bool& flag) noexcept : is_called(flag) {}
  CallsThePool(const CallsThePool&) = delete;
  CallsThePool& operator=(const CallsThePool&) = delete;
  ~CallsThePool() {
    std::promise<void> called;
    is_called = loop::Loop::current().pool()->submit([&called] { called.set_value(); });
    if (is_called) called.get_future().wait();
  }
  bool& is_called;
};

Task<> work_until_dropped(bool& is_called) {
  const CallsThePool end(is_called);
  co_await sleep(1h);
}

TEST(FinishOnALoop, IsDroppedWhileThePoolOfItsLoopLives) {
  bool is_called = false;
  const auto begin = [&]() -> Task<> {
    Scope scope;
    scope.spawn(finish(work_until_dropped(is_called)));
    co_return;
  };
  run(begin());
  EXPECT_TRUE(is_called);
}

TEST(FinishOnALoop, FailsLikeAnyOtherTaskIfNobodyAwaitsIt) {
  const auto loop = Loop::create().value();
  {
    Scope scope;
    const auto begin = [&]() -> Task<> {
      scope.spawn(finish(fail_after_a_step("unseen")));
      co_return;
    };
    loop->run(begin());
  }
  EXPECT_THROW(loop->run(), std::runtime_error);
}

}  // namespace
}  // namespace skua
