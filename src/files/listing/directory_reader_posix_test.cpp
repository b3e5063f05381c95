// SPDX-License-Identifier: MIT
// A disk that fails while a folder is read.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/archive/folder_walk.hpp"
#include "files/file_site.hpp"
#include "files/listing/directory_index.hpp"
#include "skua/testing.hpp"
#include "support/temporary_directory.hpp"

#if defined(__linux__)
#include <sys/syscall.h>

#include <cerrno>

#include "support/failing_calls.hpp"

namespace skua::files {
namespace {

class FailingDisk : public ::testing::Test {
 protected:
  void SetUp() override { tree_.write("a.txt", "a"); }
  // Runs a function on a thread that can open folders, but cannot read them.
  template <class F>
  static bool run(const F& function) {
    return support::with_failing_calls({{SYS_getdents64, EIO}}, function);
  }
  std::shared_ptr<const Root> root() const {
    return std::make_shared<const Root>(Root::open(tree_.string()).value());
  }

  support::TemporaryDirectory tree_;
};

TEST_F(FailingDisk, AFolderThatCannotBeReadHasNoEnd) {
  auto reader = DirectoryReader::open(root(), "/");
  ASSERT_TRUE(reader);
  std::vector<DirectoryEntry> entries;
  std::optional<Result<bool>> read;
  if (!run([&] { read = reader->read(entries, 10); })) GTEST_SKIP() << "seccomp is not available";
  ASSERT_FALSE(*read);
  EXPECT_EQ(read->error().system_code(), EIO);
}

TEST_F(FailingDisk, AListingIsNotSentAsIfItWereWhole) {
  const FileSite site(Root::open(tree_.string()).value(), {.listing = true},
                      std::make_unique<TimeSource>());
  testing::FakeRequest fake("GET /");
  const Request& request = fake.request();
  Status status{};
  const auto ask = [&] { status = site.answer(request, "/").status(); };
  if (!run(ask)) GTEST_SKIP() << "seccomp is not available";
  EXPECT_EQ(status, Status::InternalServerError);
  ask();
  EXPECT_EQ(status, Status::Ok);
}

TEST_F(FailingDisk, AnArchiveEnds) {
  FolderWalk walk(root(), "/", "t");
  std::optional<Error> error;
  const auto step = [&] {
    const auto item = walk.step();
    if (!item) error = item.error();
  };
  if (!run(step)) GTEST_SKIP() << "seccomp is not available";
  ASSERT_TRUE(error);
  EXPECT_EQ(error->system_code(), EIO);
}

}  // namespace
}  // namespace skua::files
#endif
