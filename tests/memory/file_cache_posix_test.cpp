// SPDX-License-Identifier: MIT
// A failed allocation leaves a cache of files without the file, and otherwise as it was.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "base/disk.hpp"
#include "files/cache/cached_files.hpp"
#include "files/open/kept_files.hpp"
#include "support/allocations.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using testing::FailingAllocations;

constexpr std::uint64_t last_allocation = 20;

// Calls a function with the n-th allocation failing; returns whether it threw.
template <class Call>
bool fails(std::uint64_t nth, const Call& call) {
  const FailingAllocations failing(FailingAllocations::Where::ThisThread, nth);
  try {
    call();
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}

TEST(FileCacheMemory, AFileThatIsNotKeptOpenIsNowhere) {
  const support::TemporaryDirectory tree;
  const support::ManualTimes times;
  tree.write("a", "text");
  const std::string path = (tree / "a").string();
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1; nth <= last_allocation; ++nth) {
    KeptFiles files(FileCacheOptions{});
    Descriptor descriptor(disk::open(path.c_str(), disk::for_reading));
    const auto stat = stat_of(descriptor.number());
    ASSERT_TRUE(stat);
    KeptFile file{.path = "/a long enough path to be on the heap", .stat = *stat};
    file.head.etag = "\"a\"";
    file.found = times.now();
    const bool has_failed =
        fails(nth, [&] { files.insert(std::move(file), descriptor, times.wall()); });
    failures += has_failed ? 1U : 0U;
    ASSERT_EQ(files.count(), has_failed ? 0U : 1U) << nth;
    // Closes idle files, one after the other.
    EXPECT_EQ(files.find("/b", times.now() + std::chrono::hours(1), {}), nullptr);
    EXPECT_EQ(files.count(), 0U);
  }
  EXPECT_GT(failures, 2U);
  EXPECT_LT(failures, last_allocation);
}

TEST(FileCacheMemory, AFileThatIsNotCachedIsNowhere) {
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1; nth <= last_allocation; ++nth) {
    CachedFiles files(2000);  // one file
    CachedFile file{.path = "/a long enough path to be on the heap"};
    const bool has_failed = fails(nth, [&] { files.insert(std::move(file)); });
    failures += has_failed ? 1U : 0U;
    ASSERT_EQ(files.find("/a long enough path to be on the heap") == nullptr, has_failed) << nth;
    ASSERT_EQ(files.size_bytes() == 0, has_failed) << nth;
    // Evicts the others.
    files.insert({.path = "/b"});
    files.insert({.path = "/c"});
    EXPECT_EQ(files.count(), 1U);
  }
  EXPECT_GT(failures, 1U);
  EXPECT_LT(failures, last_allocation);
}

}  // namespace
}  // namespace skua::files
