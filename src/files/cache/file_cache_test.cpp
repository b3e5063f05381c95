// SPDX-License-Identifier: MIT
#include "files/cache/file_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "coding/coding.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::ManualTimes;
using support::TemporaryDirectory;

constexpr std::chrono::seconds long_ago{1'500'000'000};

class FileCacheTest : public testing::Test {
 protected:
  // Returns the cached bytes, or a text for an error, a directory or a large file.
  std::string get(FileCache& cache, std::string_view path) {
    const auto found = cache.find(path);
    if (!found) return std::string(message(found.error().code()));
    if (found->cached != nullptr) return std::string(found->cached->whole->body());
    return found->file.stat.kind == FileKind::Directory ? "<directory>" : "<large>";
  }
  std::string get(std::string_view path) { return get(cache_, path); }

  TemporaryDirectory tree_;
  ManualTimes times_;
  Root root_ = Root::open(tree_.string()).value();
  const FileFields fields_{.cache_control = "no-cache"};
  FileCache cache_{
      root_, times_, fields_, {.file_bytes = 1000, .total_bytes = 10'000, .fresh = 1s}};
};

TEST_F(FileCacheTest, AnswersSmallFilesFromMemoryForASecond) {
  tree_.write("a.txt", "one");
  EXPECT_EQ(get("/a.txt"), "one");
  tree_.write("a.txt", "two, longer");
  times_.advance(999ms);
  EXPECT_EQ(get("/a.txt"), "one");
  times_.advance(1ms);
  EXPECT_EQ(get("/a.txt"), "two, longer");
}

TEST_F(FileCacheTest, KeepsTheSameEntryWhileTheFileStandsStill) {
  tree_.write("a.txt", "one");
  const auto first = cache_.find("/a.txt")->cached->whole;
  times_.advance(10s);
  EXPECT_EQ(cache_.find("/a.txt")->cached->whole, first);
}

TEST_F(FileCacheTest, SeesAFileThatIsReplacedRemovedOrComesBack) {
  tree_.write("a.txt", "one");
  EXPECT_EQ(get("/a.txt"), "one");
  tree_.write("b.txt", "two");
  std::filesystem::rename(tree_ / "b.txt", tree_ / "a.txt");
  times_.advance(1s);
  EXPECT_EQ(get("/a.txt"), "two");
  std::filesystem::remove(tree_ / "a.txt");
  times_.advance(1s);
  EXPECT_EQ(get("/a.txt"), message(Errc::NotFound));
  EXPECT_EQ(cache_.count(), 0u);
  EXPECT_EQ(cache_.size_bytes(), 0u);
  tree_.write("a.txt", "three");
  EXPECT_EQ(get("/a.txt"), "three");
}

TEST_F(FileCacheTest, SeesAWriteThatLeftSizeAndTimeAsTheyWere) {
  tree_.write("a.txt", "one");
  support::set_modified(tree_ / "a.txt", long_ago);
  EXPECT_EQ(get("/a.txt"), "one");
  tree_.write("a.txt", "two");
  support::set_modified(tree_ / "a.txt", long_ago);
  times_.advance(1s);
  EXPECT_EQ(get("/a.txt"), "two");
}

TEST_F(FileCacheTest, ReadsAgainWhatWasWrittenJustNow) {
  // With a clock as coarse as a tick, two writes can leave the same state. The inode is kept, so
  // everything is equal but the change time, which cannot be set: only the entry itself can tell.
  tree_.write("a.txt", "one");
  times_.set_wall(std::chrono::system_clock::now());
  auto first = cache_.find("/a.txt");
  EXPECT_TRUE(first->cached->is_provisional);
  EXPECT_TRUE(first->cached->head.etag.starts_with("W/"));
  const auto before = first->cached->whole;
  times_.advance(1s);
  EXPECT_NE(cache_.find("/a.txt")->cached->whole, before);
  times_.advance(10s);
  const auto settled = cache_.find("/a.txt");
  EXPECT_FALSE(settled->cached->is_provisional);
  EXPECT_FALSE(settled->cached->head.etag.starts_with("W/"));
}

TEST_F(FileCacheTest, SurvivesTruncationAndGrowth) {
  tree_.write("a.txt", std::string(900, 'x'));
  EXPECT_EQ(get("/a.txt").size(), 900u);
  std::filesystem::resize_file(tree_ / "a.txt", 0);
  EXPECT_EQ(get("/a.txt").size(), 900u);
  times_.advance(1s);
  EXPECT_EQ(get("/a.txt"), "");
  std::filesystem::resize_file(tree_ / "a.txt", 5000);
  times_.advance(1s);
  EXPECT_EQ(get("/a.txt"), "<large>");
  EXPECT_EQ(cache_.count(), 0u);
}

TEST_F(FileCacheTest, KeepsNeitherLargeFilesNorDirectories) {
  tree_.write("edge", std::string(1000, 'x'));
  tree_.write("large", std::string(1001, 'x'));
  tree_.make("folder");
  EXPECT_EQ(get("/edge").size(), 1000u);
  EXPECT_EQ(get("/large"), "<large>");
  EXPECT_EQ(get("/folder"), "<directory>");
  EXPECT_EQ(cache_.count(), 1u);
}

TEST_F(FileCacheTest, ForgetsWhatWasAskedForLongestAgo) {
  for (const std::string_view name : {"1", "2", "3", "4", "5"}) {
    tree_.write(name, std::string(900, name.front()));
  }
  for (const std::string_view path : {"/1", "/2", "/3", "/4", "/5", "/1"}) get(path);
  EXPECT_EQ(cache_.count(), 5u);
  tree_.write("6", std::string(900, '6'));
  get("/6");
  EXPECT_LE(cache_.size_bytes(), 10'000u);
  std::filesystem::remove(tree_ / "1");
  std::filesystem::remove(tree_ / "2");
  EXPECT_EQ(get("/1")[0], '1');
  EXPECT_EQ(get("/2"), message(Errc::NotFound));
}

TEST_F(FileCacheTest, AnEmptyFileIsAFile) {
  tree_.write("empty", "");
  EXPECT_EQ(get("/empty"), "");
  EXPECT_NE(cache_.find("/empty")->cached, nullptr);
}

TEST_F(FileCacheTest, RefusesWhatTheRootRefuses) {
  EXPECT_EQ(get("/../etc/passwd"), message(Errc::NotFound));
  EXPECT_EQ(get("/a/../b"), message(Errc::NotFound));
  EXPECT_EQ(cache_.count(), 0u);
}

// The first request found it on the disk only, so that it was compressed while it was sent.
TEST_F(FileCacheTest, AFileThatHasComeIntoMemoryIsCompressedAndKept) {
  if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "built without zlib";
  const FileFields fields{.cache_control = "no-cache", .made = true};
  FileCache files(root_, times_, fields);
  CodedCache coded(root_, times_, fields, coding::Coding::Gzip);
  tree_.write("a.txt", std::string(5000, 'x'));
  support::set_modified(tree_ / "a.txt", long_ago);
  const FoundFile cold{.file = root_.find("/a.txt").value()};
  EXPECT_FALSE(coded.find("/a.txt", cold, {}));
  EXPECT_FALSE(coded.find("/a.txt", cold, {}));
  const FoundFile warm = files.find("/a.txt").value();
  ASSERT_NE(warm.cached, nullptr);
  ASSERT_EQ(warm.stat(), cold.stat());
  const auto form = coded.find("/a.txt", warm, {});
  ASSERT_TRUE(form);
  ASSERT_NE(form->cached, nullptr);
  EXPECT_TRUE(form->cached->is_made);
  times_.advance(1s);
  EXPECT_EQ(coded.find("/a.txt", files.find("/a.txt").value(), {})->cached, form->cached);
}

// Every response is one consistent state, at any moment: each state is one repeated letter, and has
// its own size.
TEST_F(FileCacheTest, NeverMixesTwoStatesOfAFile) {
  FileCache cache(root_, times_, fields_, {.file_bytes = 1000, .fresh = 0s});
  const auto state = [](char letter) {
    return std::string(100u + 20u * static_cast<unsigned>(letter - 'a'), letter);
  };
  tree_.write("a.txt", state('a'));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (unsigned i = 0; !stop.load(); ++i) {
      std::ofstream(tree_ / "next.txt") << state(static_cast<char>('a' + i % 26));
      std::filesystem::rename(tree_ / "next.txt", tree_ / "a.txt");
    }
  });
  for (int i = 0; i < 3000; ++i) {
    const auto found = cache.find("/a.txt");
    ASSERT_TRUE(found);
    if (found->cached == nullptr) continue;
    const std::string_view text = found->cached->whole->body();
    ASSERT_FALSE(text.empty());
    ASSERT_EQ(text, state(text.front()));
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace skua::files
