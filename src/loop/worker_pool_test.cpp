// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>

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

}  // namespace
}  // namespace skua::loop
