// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "loop/loop.hpp"
#include "skua/load_shedding.hpp"
#include "skua/testing.hpp"
#include "support/allocations.hpp"

namespace skua {
namespace {

// A program may make one for each of its mounts, and mount again and again.
TEST(LoadSheddingMemory, ThatOfObjectsThatAreGoneIsGivenBack) {
  const auto loop = loop::Loop::create({.backend = BackendChoice::Poll}).value();
  testing::FakeRequest fake("GET /");
  const auto use = [&fake](int count) {
    for (int i = 0; i < count; ++i) {
      const LoadShedding one = load_shedding();
      EXPECT_FALSE(one(fake.request()));
    }
    return testing::allocations().live_bytes;
  };
  std::int64_t before = 0;
  std::int64_t after = 0;
  loop->post([&] {
    before = use(100);
    after = use(20'000);
  });
  loop->run_once(Duration(0));
  EXPECT_LT(after - before, 16'000);
}

}  // namespace
}  // namespace skua
