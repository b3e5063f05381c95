// SPDX-License-Identifier: MIT
#include "base/thread_object.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace skua::base {
namespace {

// Counts the objects of a type.
struct ThreadObjectCounts {
  std::atomic<int> made = 0;
  std::atomic<int> destroyed = 0;
  std::atomic<int> intact = 0;  // as they were destroyed
};

// Looks at its own bytes as it is destroyed.
template <class Tag>
class WatchedObject {
 public:
  WatchedObject() {
    bytes_.fill(0x5a);
    ++counts.made;
  }
  WatchedObject(const WatchedObject&) = delete;
  WatchedObject& operator=(const WatchedObject&) = delete;
  ~WatchedObject() {
    ++counts.destroyed;
    counts.intact += std::ranges::count(bytes_, 0x5a) == std::ssize(bytes_) ? 1 : 0;
  }

  static inline ThreadObjectCounts counts;

 private:
  std::array<unsigned char, 512> bytes_;
};

// Writes over memory that is free as it is destroyed, in blocks from the size of the others on.
struct OverwritesFreeMemory {
  OverwritesFreeMemory() = default;
  OverwritesFreeMemory(const OverwritesFreeMemory&) = delete;
  OverwritesFreeMemory& operator=(const OverwritesFreeMemory&) = delete;
  ~OverwritesFreeMemory() {
    std::vector<std::vector<unsigned char>> blocks;
    for (std::size_t i = 0; i < 256; ++i) blocks.emplace_back(512 + i % 8 * 8, 0xff);
  }
};

struct ThreadNumber {
  int value = 0;
};

TEST(ThreadObject, IsOneForEachThread) {
  ThreadNumber& mine = thread_object<ThreadNumber>();
  mine.value = 1;
  std::thread([&mine] {
    EXPECT_NE(&thread_object<ThreadNumber>(), &mine);
    EXPECT_EQ(thread_object<ThreadNumber>().value, 0);
  }).join();
  EXPECT_EQ(&thread_object<ThreadNumber>(), &mine);
  EXPECT_EQ(mine.value, 1);
}

TEST(ThreadObject, IsIntactAsItIsDestroyed) {
  using Object = WatchedObject<struct Intact>;
  (void)thread_object<Object>();  // lives on
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      (void)thread_object<Object>();
      (void)thread_object<OverwritesFreeMemory>();
      (void)thread_object<Object>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Object::counts.made, 9);
  EXPECT_EQ(Object::counts.destroyed, 8);
  EXPECT_EQ(Object::counts.intact, 8);
}

// Uses another object as it is destroyed.
struct UsesALateObject {
  using Late = WatchedObject<UsesALateObject>;
  UsesALateObject() = default;
  UsesALateObject(const UsesALateObject&) = delete;
  UsesALateObject& operator=(const UsesALateObject&) = delete;
  ~UsesALateObject() {
    (void)thread_object<OverwritesFreeMemory>();
    (void)thread_object<Late>();
  }
};

TEST(ThreadObject, MayBeMadeAsAnotherIsDestroyed) {
  std::thread([] { (void)thread_object<UsesALateObject>(); }).join();
  EXPECT_EQ(UsesALateObject::Late::counts.made, 1);
  EXPECT_EQ(UsesALateObject::Late::counts.destroyed, 1);
  EXPECT_EQ(UsesALateObject::Late::counts.intact, 1);
}

}  // namespace
}  // namespace skua::base
