// SPDX-License-Identifier: MIT
#include "loop/threads/promise.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "loop/loop.hpp"
#include "skua/async.hpp"

namespace skua::loop {
namespace {

using Outcome = Promise<int>::Outcome;

Task<Outcome> wait_for(std::optional<Promise<int>>& promise) {
  promise.emplace("the test");
  auto waiting = promise->result();
  Outcome outcome = co_await waiting;
  co_return outcome;
}

class LoopPromise : public ::testing::Test {
 protected:
  LoopPromise() {
    loop_->post([this] { task_->start([](void*) noexcept {}, nullptr); });
    loop_->run_once(Duration(0));
  }
  /// Returns the outcome, on the loop's thread.
  Outcome outcome() {
    while (!task_->is_done()) loop_->run_once(Duration(-1));
    return task_->result();
  }

  std::unique_ptr<Loop> loop_ = Loop::create().value();
  std::optional<Promise<int>> promise_;
  std::optional<Task<Outcome>> task_{wait_for(promise_)};
};

TEST_F(LoopPromise, IsResolvedByAnyThread) {
  EXPECT_TRUE(promise_->is_wanted());
  std::thread([this] { promise_->resolve(1); }).join();
  EXPECT_FALSE(promise_->is_wanted());
  EXPECT_EQ(outcome().value(), 1);
}

TEST_F(LoopPromise, HasItsFirstResult) {
  promise_->resolve(1);
  promise_->resolve(2);
  EXPECT_EQ(outcome().value(), 1);
}

TEST_F(LoopPromise, IsClosedIfItsLastCopyIsDestroyed) {
  std::optional<Promise<int>> copy = promise_;
  promise_.reset();
  EXPECT_TRUE(copy->is_wanted());
  copy.reset();
  const Outcome closed = outcome();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code(), Errc::Closed);
  EXPECT_NE(closed.error().text.find("the test"), std::string::npos) << closed.error().text;
}

TEST_F(LoopPromise, IsNotWantedOnceItsTaskIsDropped) {
  task_.reset();
  EXPECT_FALSE(promise_->is_wanted());
  promise_->resolve(1);
  loop_->run_once(Duration(0));
}

TEST_F(LoopPromise, MayBeResolvedAfterItsLoop) {
  loop_.reset();
  promise_->resolve(1);
  EXPECT_FALSE(promise_->is_wanted());
}

}  // namespace
}  // namespace skua::loop
