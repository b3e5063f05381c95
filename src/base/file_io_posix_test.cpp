// SPDX-License-Identifier: MIT
#include "base/file_io.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "base/disk.hpp"
#include "support/cold_file.hpp"
#include "support/temporary_directory.hpp"

namespace skua::base {
namespace {

class ReadResident : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write("file", std::string(100'000, 'x') + "end");
    path_ = (tree_ / "file").string();
    file_ = disk::Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    char byte = 0;
    const auto count = read_resident(file_.number(), 0, {&byte, 1});
    if (!count && count.error().code() == Errc::Unsupported) {
      GTEST_SKIP() << "this file system cannot tell what is in memory";
    }
  }

  support::TemporaryDirectory tree_;
  std::string path_;
  disk::Descriptor file_;
};

TEST_F(ReadResident, ReadsWhatIsInMemoryUpToTheEnd) {
  std::string piece(5, '-');
  EXPECT_EQ(read_resident(file_.number(), 99'999, piece).value_or(99), 4U);
  EXPECT_EQ(piece, "xend-");
  EXPECT_EQ(read_resident(file_.number(), 100'003, piece).value_or(99), 0U);
}

TEST_F(ReadResident, DoesNotWaitForWhatOnlyTheDiskHas) {
  if (!support::make_cold(path_)) GTEST_SKIP() << "this system keeps the file in memory";
  std::string text(100'003, '-');
  const auto cold = read_resident(file_.number(), 0, text);
  ASSERT_FALSE(cold);
  EXPECT_EQ(cold.error().code(), Errc::WouldBlock);
  start_reading(file_.number(), 0, text.size());
  EXPECT_EQ(read_at(file_.number(), 0, text).value_or(0), text.size());
  EXPECT_EQ(read_resident(file_.number(), 0, text).value_or(0), text.size());
}

TEST_F(ReadResident, SaysSoIfTheFileCannotBeRead) {
  char byte = 0;
  const auto count = read_resident(-1, 0, {&byte, 1});
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code(), Errc::Unsupported);
}

TEST(DuplicateFile, OutlivesTheOriginal) {
  const support::TemporaryDirectory tree;
  tree.write("file", "text");
  disk::Descriptor first(::open((tree / "file").c_str(), O_RDONLY | O_CLOEXEC));
  const disk::Descriptor second(duplicate_file(first.number()));
  first = disk::Descriptor();
  std::string text(4, '-');
  EXPECT_EQ(read_at(second.number(), 0, text).value_or(0), 4U);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(duplicate_file(-1), -1);
}

}  // namespace
}  // namespace skua::base
