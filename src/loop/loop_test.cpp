// SPDX-License-Identifier: MIT
#include "loop/loop.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::loop {
namespace {

class LoopTest : public testing::Test {
 protected:
  ManualClock clock;
  std::unique_ptr<Loop> loop = *Loop::create({.clock = &clock});
};

struct Call {
  Call(Loop& owner, std::function<void()> what)
      : loop(owner), task(std::move(what)), deferred(call_member<&Call::run>, this) {}
  void run() { task(); }
  void defer() { loop.defer(deferred); }
  Loop& loop;
  std::function<void()> task;
  Deferred deferred;
};

TEST_F(LoopTest, RunsPostsInOrderOnItsOwnThread) {
  std::string order;
  loop->post([&] { order += 'a'; });
  loop->post([&] { order += 'b'; });
  loop->post([&] {
    loop->post([&] { order += 'd'; });
    order += 'c';
  });
  loop->run_once(Duration(-1));
  EXPECT_EQ(order, "abc");
  loop->run_once(Duration(-1));
  EXPECT_EQ(order, "abcd");
}

struct Trims {
  explicit Trims(Loop& its) : loop(its) {
    loop.on_trim([](void* self) noexcept { ++static_cast<Trims*>(self)->count; }, this);
  }
  void take(std::uint64_t bytes) const {
    loop.backend().taken_bytes() += bytes;
    loop.run_once(Duration(0));
  }
  Loop& loop;
  int count = 0;
};

TEST_F(LoopTest, GivesMemoryBackOnceItIsCalm) {
  const Trims trims(*loop);
  const auto pass = [&](Duration time) {
    clock.advance(time);
    loop->run_once(Duration(0));
  };
  trims.take(Loop::trim_after_bytes - 1);
  pass(1h);
  EXPECT_EQ(trims.count, 0) << "too little";
  trims.take(1);
  pass(Loop::trim_delay - 1ms);
  EXPECT_EQ(trims.count, 0) << "too early";
  pass(1ms);
  EXPECT_EQ(trims.count, 1);
  pass(1h);
  EXPECT_EQ(trims.count, 1) << "once for a burst";
  trims.take(Loop::trim_after_bytes);
  for (int i = 0; i < 10; ++i) {
    trims.take(2 * 1024 * 1024);
    pass(Loop::trim_delay);
  }
  EXPECT_EQ(trims.count, 1) << "not while it is busy";
  pass(Loop::trim_delay);
  EXPECT_EQ(trims.count, 2);
}

TEST_F(LoopTest, GivesMemoryBackAgainOnceThoseWhoHeldItHaveLeft) {
  const Trims trims(*loop);
  const auto pass = [&](Duration time) {
    clock.advance(time);
    loop->run_once(Duration(0));
  };
  trims.take(4 * Loop::trim_after_bytes);
  pass(Loop::trim_delay);
  EXPECT_EQ(trims.count, 1) << "while they hold it";
  pass(1h);
  trims.take(100 * 1024);
  pass(1h);
  EXPECT_EQ(trims.count, 1) << "nobody has left";
  for (int i = 2; i <= 4; ++i) {
    trims.take(1024 * 1024);
    pass(Loop::trim_delay);
    EXPECT_EQ(trims.count, i) << "some have left";
  }
  trims.take(1024 * 1024);
  pass(1h);
  EXPECT_EQ(trims.count, 4) << "what is left is not worth it";
}

TEST_F(LoopTest, TakesPostsFromManyThreads) {
  constexpr int thread_count = 4;
  constexpr int posts_per_thread = 500;
  int ran = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < posts_per_thread; ++k) {
        loop->post([&] {
          if (++ran == thread_count * posts_per_thread) loop->stop();
        });
      }
    });
  }
  loop->run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ran, thread_count * posts_per_thread);
}

TEST_F(LoopTest, DropsPostsThatHaveNotRun) {
  const auto token = std::make_shared<int>(1);
  loop->post([token] { FAIL(); });
  loop->after(1s, [token] { FAIL(); });
  EXPECT_EQ(token.use_count(), 3);
  loop.reset();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(LoopTest, StopsFromAnotherThread) {
  std::thread other([&] { loop->stop(); });
  loop->run();
  other.join();
}

TEST_F(LoopTest, AStopBeforeRunEndsThatRunOnly) {
  loop->stop();
  loop->run();
  int ran = 0;
  loop->post([&] { ++ran, loop->stop(); });
  loop->run();
  EXPECT_EQ(ran, 1);
}

TEST_F(LoopTest, FiresUserTimersByTheManualClock) {
  std::string order;
  loop->after(20ms, [&] { order += 'b'; });
  loop->after(10ms, [&] { order += 'a', loop->after(5ms, [&] { order += 'x'; }); });
  loop->run_once(Duration::zero());
  EXPECT_EQ(order, "");
  clock.advance(10ms);
  loop->run_once(Duration::zero());
  EXPECT_EQ(order, "a");
  clock.advance(10ms);
  loop->run_once(Duration::zero());
  EXPECT_EQ(order, "axb");
}

TEST_F(LoopTest, SleepsUnderAManualClockUntilItIsWoken) {
  bool has_fired = false;
  loop->after(1h, [&] { has_fired = true; });
  std::thread other([&] {
    clock.advance(1h);
    loop->wake();
  });
  while (!has_fired) loop->run_once(Duration(-1));
  other.join();
}

TEST(Loop, WakesUpForTimersOfTheMachinesClock) {
  const auto loop = *Loop::create();
  const auto start = std::chrono::steady_clock::now();
  loop->after(20ms, [&] { loop->stop(); });
  loop->run();
  EXPECT_GE(std::chrono::steady_clock::now() - start, 20ms);
}

TEST_F(LoopTest, ReadsItsTimeOnceATurn) {
  loop->run_once(Duration::zero());
  const Instant first = loop->now();
  clock.advance(1s);
  EXPECT_EQ(loop->now(), first);
  loop->run_once(Duration::zero());
  EXPECT_EQ(loop->now(), first + 1s);
}

TEST_F(LoopTest, RunsDeferredCallsLastAndOnce) {
  std::string order;
  Call call(*loop, [&] { order += 'd'; });
  loop->post([&] {
    call.defer();
    call.defer();
    EXPECT_TRUE(call.deferred.is_pending());
    order += 'p';
  });
  loop->post([&] { order += 'q'; });
  loop->run_once(Duration(-1));
  EXPECT_EQ(order, "pqd");
  EXPECT_FALSE(call.deferred.is_pending());
  loop->run_once(Duration::zero());
  EXPECT_EQ(order, "pqd");
}

TEST_F(LoopTest, WhatIsDeferredByADeferredCallWaitsForTheNextTurnWhichDoesNotWait) {
  int count = 0;
  Call call(*loop, nullptr);
  call.task = [&] {
    if (++count < 3) call.defer();
  };
  call.defer();
  loop->run_once(Duration(-1));
  EXPECT_EQ(count, 1);
  loop->run_once(Duration(-1));
  loop->run_once(Duration(-1));
  EXPECT_EQ(count, 3);
}

TEST_F(LoopTest, ADeferredCallMayCancelAndDestroyOthersAndItself) {
  std::string order;
  auto self = std::make_unique<Call>(*loop, nullptr);
  auto second = std::make_unique<Call>(*loop, [&] { order += 'x'; });
  Call third(*loop, [&] { order += 'x'; });
  Call fourth(*loop, [&] { order += '4'; });
  self->task = [&] {
    order += '1';
    second.reset();
    third.deferred.cancel();
  };
  self->defer();
  second->defer();
  third.defer();
  fourth.defer();
  loop->run_once(Duration(-1));
  EXPECT_EQ(order, "14");
}

TEST(Loop, DestroysItsAttachmentsBeforeItsBackEnd) {
  struct Attached {
    Loop* loop = nullptr;
    std::string* log = nullptr;
    ~Attached() {
      loop->post([] {});  // both still work
      log->append(loop->backend().kind() == BackendChoice::Poll ? "gone" : "?");
    }
  };
  std::string log;
  auto loop = *Loop::create({.backend = BackendChoice::Poll});
  auto& attached = loop->attachments().get<Attached>();
  attached.loop = loop.get();
  attached.log = &log;
  loop->run_once(Duration::zero());
  EXPECT_EQ(log, "");
  loop.reset();
  EXPECT_EQ(log, "gone");
}

TEST(Loop, SaysThatABackEndIsMissing) {
  for (const BackendChoice kind :
       {BackendChoice::Epoll, BackendChoice::IoUring, BackendChoice::Poll, BackendChoice::Kqueue}) {
    const auto loop = Loop::create({.backend = kind});
    if (loop) {
      EXPECT_EQ((*loop)->backend().kind(), kind);
    } else {
      EXPECT_EQ(loop.error().code(), Errc::Unsupported);
    }
  }
}

TEST(Loop, WakesTheBackEndOncePerBatchOfPosts) {
  const auto loop = *Loop::create({.backend = BackendChoice::Poll});
  loop->run_once(Duration::zero());
  const std::uint64_t before = loop->backend().system_calls().others;
  for (int i = 0; i < 100; ++i) loop->post([] {});
  loop->run_once(Duration(-1));
  EXPECT_EQ(loop->backend().system_calls().others, before + 1);  // one read of the pipe
}

}  // namespace
}  // namespace skua::loop
