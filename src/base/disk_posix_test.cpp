// SPDX-License-Identifier: MIT
#include "base/disk.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "support/temporary_directory.hpp"

#if defined(__linux__)
#include <sys/syscall.h>

#include "support/failing_calls.hpp"
#endif

namespace skua::disk {
namespace {

TEST(DiskPosix, OneDescriptorAtATimeHasTheLockOfAFile) {
  const support::TemporaryDirectory tree;
  tree.write("a", "");
  const std::string path = (tree / "a").string();
  Descriptor first(open(path.c_str(), for_appending));
  const Descriptor second(open(path.c_str(), for_appending));
  EXPECT_TRUE(lock(first.number()));
  EXPECT_FALSE(lock(second.number()));
  first = Descriptor();
  EXPECT_TRUE(lock(second.number()));
}

// NFS says so of any descriptor that only reads, also if another process has the lock.
TEST(DiskPosix, ALockThatCannotBeAskedForCountsAsHeld) { EXPECT_FALSE(lock(-1)); }

// Renames in a folder with the files "taken" and "from" and the folder "dir".
void expect_that_nothing_is_replaced(const support::TemporaryDirectory& tree) {
  const auto path = [&tree](const char* name) { return (tree / name).string(); };
  EXPECT_EQ(rename_beside(path("from"), path("taken")), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(rename_beside(path("dir"), path("taken")), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(rename_beside(path("none"), path("new")), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(rename_beside(path("from"), path("new")), 0);
  EXPECT_EQ(rename_beside(path("dir"), path("new-dir")), 0);
  EXPECT_TRUE(std::filesystem::exists(tree / "taken"));
  EXPECT_TRUE(std::filesystem::exists(tree / "new"));
  EXPECT_FALSE(std::filesystem::exists(tree / "from"));
  EXPECT_TRUE(std::filesystem::is_directory(tree / "new-dir"));
}

class RenameBeside : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write("taken", "");
    tree_.write("from", "");
    tree_.make("dir");
  }

  support::TemporaryDirectory tree_;
};

TEST_F(RenameBeside, ReplacesNothing) { expect_that_nothing_is_replaced(tree_); }

// Elsewhere rename() itself is a call of renameat2.
#if defined(__linux__) && defined(SYS_renameat)
TEST_F(RenameBeside, ReplacesNothingOnAFileSystemWithoutSuchACall) {
  const auto run = [this] { expect_that_nothing_is_replaced(tree_); };
  if (!support::with_failing_calls({{SYS_renameat2, EINVAL}}, run)) {
    GTEST_SKIP() << "seccomp is not available";
  }
}

TEST_F(RenameBeside, ReplacesNothingOnAFileSystemWithoutLinks) {
  const auto run = [this] { expect_that_nothing_is_replaced(tree_); };
  for (const int error : {EPERM, ENOSYS, EOPNOTSUPP}) {
    SetUp();
    std::filesystem::remove(tree_ / "new");
    std::filesystem::remove(tree_ / "new-dir");
    if (!support::with_failing_calls({{SYS_renameat2, EINVAL}, {SYS_linkat, error}}, run)) {
      GTEST_SKIP() << "seccomp is not available";
    }
  }
}
#endif

}  // namespace
}  // namespace skua::disk
