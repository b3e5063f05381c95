// SPDX-License-Identifier: MIT
#include "files/cache/per_thread.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace skua::files {
namespace {

TEST(PerThread, GivesEachThreadItsOwnObject) {
  int made = 0;
  const PerThread<int> objects([&] {
    ++made;
    return std::make_unique<int>(made);
  });
  int* const mine = &objects.local();
  EXPECT_EQ(&objects.local(), mine);
  std::thread([&] {
    EXPECT_NE(&objects.local(), mine);
    EXPECT_EQ(&objects.local(), &objects.local());
  }).join();
  EXPECT_EQ(made, 2);
}

TEST(PerThread, ANewOneNeverFindsTheObjectOfAnOldOne) {
  const auto make = [] { return std::make_unique<int>(0); };
  for (int i = 0; i < 20; ++i) {  // more than a thread remembers, each at the same address
    const PerThread<int> objects(make);
    EXPECT_EQ(objects.local()++, 0);
    const PerThread<int> others(make);
    EXPECT_NE(&objects.local(), &others.local());
  }
}

}  // namespace
}  // namespace skua::files
