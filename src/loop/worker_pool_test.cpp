// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "async/destroy_off_loop.hpp"
#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "skua/async.hpp"

namespace skua::loop {
namespace {

void ignore(void* /*context*/) noexcept {}

TEST(Offload, ACallThatNobodyWaitsForIsNotMade) {
  const std::unique_ptr<Loop> loop = *Loop::create();
  WorkerPool pool(1, 8);
  loop->use_pool(&pool);
  std::promise<void> go;
  std::atomic<int> dropped = 0;
  std::atomic<int> kept = 0;
  const auto hold = [&go] { go.get_future().wait(); };
  const auto count_dropped = [&dropped] { ++dropped; };
  const auto count_kept = [&kept] { ++kept; };
  Task<> first = offload(hold);
  std::optional<Task<>> second(offload(count_dropped));
  Task<> third = offload(count_kept);
  loop->post([&] {
    first.start(ignore, nullptr);
    second->start(ignore, nullptr);
    third.start(ignore, nullptr);
    second.reset();
    go.set_value();
  });
  while (!third.is_done()) loop->run_once(Duration(-1));
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(dropped, 0);
}

// Tells on which thread it is destroyed.
struct Leaving {
  ~Leaving() { thread.set_value(std::this_thread::get_id()); }
  std::promise<std::thread::id> thread;
};

TEST(DestroyOffLoop, AValueIsDestroyedOnAnotherThread) {
  const std::unique_ptr<Loop> loop = *Loop::create();
  WorkerPool pool(1, 8);
  loop->use_pool(&pool);
  auto value = std::make_shared<Leaving>();
  std::future<std::thread::id> thread = value->thread.get_future();
  const Loop::Entered entered(*loop);
  async::destroy_off_loop(std::move(value));
  EXPECT_NE(thread.get(), std::this_thread::get_id());
}

TEST(DestroyOffLoop, AValueThatNoOtherThreadTakesIsDestroyedAtOnce) {
  const auto expect_here = [] {
    auto value = std::make_shared<Leaving>();
    std::future<std::thread::id> thread = value->thread.get_future();
    async::destroy_off_loop(std::move(value));
    EXPECT_EQ(thread.get(), std::this_thread::get_id());
  };
  expect_here();
  const std::unique_ptr<Loop> loop = *Loop::create();
  const Loop::Entered entered(*loop);
  expect_here();  // it has no pool
  std::promise<void> go;
  std::promise<void> begun;
  WorkerPool pool(1, 0);
  loop->use_pool(&pool);
  ASSERT_TRUE(pool.submit([&] {
    begun.set_value();
    go.get_future().wait();
  }));
  begun.get_future().wait();
  expect_here();  // its only thread is busy
  go.set_value();
}

}  // namespace
}  // namespace skua::loop
