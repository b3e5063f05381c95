// SPDX-License-Identifier: MIT
#include "client/files/resumable_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/descriptors.hpp"
#include "support/temporary_directory.hpp"

namespace skua::client {
namespace {

namespace fs = std::filesystem;
using Found = ResumableFile::Found;

class ResumableFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string content(std::string_view name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// Leaves a resumable part behind: "1234".
  void leave_part() const {
    ResumableFile file(path_, {.keeps_part = true});
    ASSERT_TRUE(file.start(origin_));
    ASSERT_TRUE(file.write("1234"));
  }
  [[nodiscard]] Found found(std::string_view url = {}) const {
    ResumableFile file(path_, {.keeps_part = true});
    EXPECT_TRUE(file.look(url));
    return file.found();
  }

  support::TemporaryDirectory folder_;
  const std::string path_ = (folder_ / "f").string();
  const PartOrigin origin_{.url = "http://a/f", .validator = "\"v\"", .total_bytes = 9};
};

TEST_F(ResumableFileTest, IsWrittenUnderAnotherNameUntilItIsWhole) {
  ResumableFile file(path_, {});
  ASSERT_TRUE(file.start(origin_));
  ASSERT_TRUE(file.write("123456789"));
  EXPECT_EQ(file.part_path(), (folder_ / ".f.part").string());
  EXPECT_FALSE(fs::exists(path_));
  ASSERT_TRUE(file.keep());
  EXPECT_EQ(content("f"), "123456789");
  EXPECT_FALSE(fs::exists(folder_ / ".f.part"));
  EXPECT_FALSE(fs::exists(folder_ / ".f.part.origin"));
}

TEST_F(ResumableFileTest, APartIsGoneOnWith) {
  leave_part();
  ResumableFile file(path_, {.keeps_part = true});
  ASSERT_TRUE(file.look("http://a/f"));
  ASSERT_EQ(file.found(), Found::Part);
  EXPECT_EQ(file.origin(), origin_);
  EXPECT_EQ(file.size_bytes(), 4U);
  file.append();
  ASSERT_TRUE(file.write("56789"));
  ASSERT_TRUE(file.keep());
  EXPECT_EQ(content("f"), "123456789");
}

TEST_F(ResumableFileTest, APartOfAnotherUrlIsNone) {
  leave_part();
  EXPECT_EQ(found("http://a/g"), Found::Nothing);
  EXPECT_EQ(found(), Found::Part);
}

TEST_F(ResumableFileTest, APartStaysOnlyIfItCanBeGoneOnWith) {
  for (const bool keeps_part : {true, false}) {
    for (const char* validator : {"", "\"v\"", "\"line\n\""}) {
      {
        ResumableFile file(path_, {.keeps_part = keeps_part});
        ASSERT_TRUE(file.start({.url = "http://a/f", .validator = validator}));
        ASSERT_TRUE(file.write("1234"));
      }
      const bool stays = keeps_part && std::string_view(validator) == "\"v\"";
      EXPECT_EQ(fs::exists(folder_ / ".f.part"), stays) << validator;
      EXPECT_EQ(fs::exists(folder_ / ".f.part.origin"), stays) << validator;
      fs::remove(folder_ / ".f.part");
      fs::remove(folder_ / ".f.part.origin");
    }
  }
}

TEST_F(ResumableFileTest, APartThatIsWrittenIsBusy) {
  ResumableFile first(path_, {});
  ASSERT_TRUE(first.start(origin_));
  ResumableFile second(path_, {});
  EXPECT_FALSE(second.start(origin_));
  EXPECT_FALSE(second.look({}));
  ResumableFile beside(path_, {.never_replace = true});
  ASSERT_TRUE(beside.start(origin_));
  EXPECT_EQ(beside.part_path(), (folder_ / ".f-1.part").string());
}

TEST_F(ResumableFileTest, BesideReplacesNothing) {
  folder_.write("f", "old");
  ResumableFile file(path_, {.never_replace = true});
  ASSERT_TRUE(file.start(origin_));
  ASSERT_TRUE(file.write("new"));
  ASSERT_TRUE(file.keep());
  EXPECT_EQ(file.path(), (folder_ / "f-1").string());
  EXPECT_EQ(content("f"), "old");
  EXPECT_EQ(content("f-1"), "new");
}

TEST_F(ResumableFileTest, OneNameMayBeUsedManyTimes) {
  constexpr int count = 1100;
  folder_.write("f", "");
  for (int i = 1; i <= count; ++i) folder_.write("f-" + std::to_string(i), "");
  for (const int number : {count + 1, count + 2, count + 3}) {
    ResumableFile file(path_, {.never_replace = true});
    ASSERT_TRUE(file.start({}));
    ASSERT_TRUE(file.keep());
    EXPECT_EQ(file.path(), path_ + "-" + std::to_string(number));
  }
}

TEST_F(ResumableFileTest, OriginsOfOthersAreNotBelieved) {
  leave_part();
  for (const char* text : {"", "skua download 1\nhttp://a/f\n\"v\"\n", "skua download 2\na\nb\n3\n",
                           "skua download 1\nhttp://a/f\n\"v\"\n9\nmore"}) {
    folder_.write(".f.part.origin", text);
    EXPECT_EQ(found(), Found::Nothing) << text;
  }
  fs::remove(folder_ / ".f.part.origin");
  if (!support::make_fifo((folder_ / ".f.part.origin").string().c_str()))
    GTEST_SKIP() << "no named pipes";
  EXPECT_EQ(found(), Found::Nothing);  // does not wait for a writer
}

TEST_F(ResumableFileTest, AWholeFileIsFoundByItsTime) {
  folder_.write("f", "whole");
  ResumableFile file(path_, {.keeps_part = true});
  ASSERT_TRUE(file.look({}));
  EXPECT_EQ(file.found(), Found::Whole);
  EXPECT_EQ(file.size_bytes(), 5U);
  EXPECT_TRUE(file.origin().validator.ends_with(" GMT"));
}

}  // namespace
}  // namespace skua::client
