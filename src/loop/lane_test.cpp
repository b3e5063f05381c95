// SPDX-License-Identifier: MIT
#include "skua/lane.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/async.hpp"
#include "skua/error.hpp"

namespace skua {
namespace {

TEST(Lane, RunsThoughAllThreadsOfThePoolAreBusy) {
  const std::unique_ptr<loop::Loop> loop = *loop::Loop::create();
  loop::WorkerPool pool(1, 0);
  loop->use_pool(&pool);
  std::promise<void> go;
  const auto hold = [&go] { go.get_future().wait(); };
  const auto answer = [] { return 42; };
  Lane lane;
  Task<> held = offload(hold);
  Task<int> wanted = offload(lane, answer);
  const auto ignore = [](void* /*context*/) noexcept {};
  loop->post([&] {
    held.start(ignore, nullptr);
    wanted.start(ignore, nullptr);
  });
  while (!wanted.is_done()) loop->run_once(Duration(-1));
  EXPECT_EQ(wanted.result(), 42);
  EXPECT_FALSE(held.is_done());
  go.set_value();
  while (!held.is_done()) loop->run_once(Duration(-1));
}

TEST(Lane, RefusesMoreCallsThanMayWait) {
  Lane lane({.threads = 1, .queued_calls = 2});
  std::promise<void> begun;
  std::promise<void> go;
  const auto hold = [&] {
    begun.set_value();
    go.get_future().wait();
  };
  const auto nothing = [] {};
  const auto fill = [&]() -> Task<> {
    Scope scope;
    EXPECT_FALSE(lane.is_full());
    scope.spawn(offload(lane, hold));
    begun.get_future().wait();
    scope.spawn(offload(lane, nothing));
    EXPECT_FALSE(lane.is_full());
    scope.spawn(offload(lane, nothing));
    EXPECT_TRUE(lane.is_full());
    auto refused = offload(lane, nothing);
    std::optional<Errc> why;
    try {
      co_await refused;
    } catch (const Exception& error) {
      why = error.error().code();
    }
    EXPECT_EQ(why, Errc::Overloaded);
    go.set_value();
    co_await scope.join();
  };
  run(fill());
  EXPECT_FALSE(lane.is_full());
}

TEST(Lane, MakesItsCallsOneAfterAnother) {
  Lane lane;
  std::vector<std::thread::id> threads;
  const auto note = [&threads] { threads.push_back(std::this_thread::get_id()); };
  const auto call_often = [&]() -> Task<> {
    Scope scope;
    for (int i = 0; i < 20; ++i) scope.spawn(offload(lane, note));
    co_await scope.join();
  };
  run(call_often());
  ASSERT_EQ(threads.size(), 20U);
  for (const std::thread::id thread : threads) EXPECT_EQ(thread, threads[0]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(Lane, PassesOnWhatACallThrows) {
  Lane lane;
  const auto fail = []() -> int { throw Exception(Error(Errc::NotFound, "lane")); };
  EXPECT_THROW(run(offload(lane, fail)), Exception);
}

}  // namespace
}  // namespace skua
