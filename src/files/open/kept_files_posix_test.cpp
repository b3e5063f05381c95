// SPDX-License-Identifier: MIT
// Files that stay open between requests, which Windows does without.
#include "files/open/kept_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.hpp"
#include "files/cache/file_cache.hpp"
#include "files/file_site.hpp"
#include "http/message/request_parts.hpp"
#include "skua/testing.hpp"
#include "support/descriptors.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::ManualTimes;
using support::TemporaryDirectory;

class KeptFilesTest : public ::testing::Test {
 protected:
  // Writes a state of a file that differs from all others by its time.
  void write(std::string_view name, std::string_view text) {
    tree_.write(name, text);
    support::set_modified(tree_ / name, std::chrono::seconds(1'500'000'000 + ++writes_));
  }
  // Returns the descriptor of a file that stays open; -1 if it does not, -2 if it is not found.
  int find(std::string_view path, FileUse use = {}) {
    const auto found = cache_.find(path, use);
    if (!found) return -2;
    return found->kept != nullptr ? found->kept->file->number() : -1;
  }
  std::string tag(std::string_view path, FileUse use = {}) {
    const auto found = cache_.find(path, use);
    return found && found->kept != nullptr ? found->kept->head.etag : "";
  }

  // Returns how many responses copy a file before its bytes are in memory; at most 20.
  int copies_until_loaded(std::string_view path) {
    for (int count = 0; count < 20; ++count) {
      const auto found = cache_.find(path, copied);
      if (found && found->kept != nullptr && found->kept->bytes.owner) return count;
    }
    return 20;
  }

  static constexpr FileUse copied{.is_copied = true};
  int writes_ = 0;
  TemporaryDirectory tree_;
  ManualTimes times_;
  Root root_ = Root::open(tree_.string()).value();
  const FileFields fields_{};
  FileCache cache_{root_,
                   times_,
                   fields_,
                   {.file_bytes = 10,
                    .kept_bytes = 1000,
                    .kept_files = 3,
                    .settled = 10ms,
                    .loaded_bytes = 100}};
};

TEST_F(KeptFilesTest, AFileStaysOpenAndIsNotLookedUpForASecond) {
  write("a", "a large file");
  const int first = find("/a");
  ASSERT_GE(first, 0);
  const std::size_t open = base::open_files_count();
  EXPECT_EQ(find("/a"), first);
  std::filesystem::rename(tree_.path(), tree_.string() + "-moved");
  std::filesystem::create_directory(tree_.path());
  std::filesystem::rename(tree_.string() + "-moved/a", tree_ / "b");  // out of the root
  times_.advance(9ms);
  EXPECT_EQ(find("/a"), first);
  EXPECT_EQ(base::open_files_count(), open);
  times_.advance(1s);
  EXPECT_EQ(find("/a"), -2);
  EXPECT_EQ(cache_.kept_count(), 0U);
  EXPECT_EQ(base::open_files_count(), open - 1);
  std::filesystem::remove_all(tree_.string() + "-moved");
}

TEST_F(KeptFilesTest, AFileThatStandsStillIsNotOpenedAgain) {
  write("a", "a large file");
  const int first = find("/a");
  const std::string etag = tag("/a");
  EXPECT_TRUE(etag.starts_with('"'));
  for (int i = 0; i < 5; ++i) {
    times_.advance(2s);
    EXPECT_EQ(find("/a"), first);
  }
  EXPECT_EQ(tag("/a"), etag);
  EXPECT_EQ(cache_.kept_count(), 1U);
}

TEST_F(KeptFilesTest, AFileThatIsReplacedKeepsItsBytesAndItsTagForASecondAtMost) {
  write("a", "a large file");
  const auto first = cache_.find("/a")->kept->file;
  write("b", "another file");
  std::filesystem::rename(tree_ / "b", tree_ / "a");
  times_.advance(1s);
  const auto second = cache_.find("/a")->kept->file;
  EXPECT_NE(second, first);
  // A response that is being sent goes on with the file that it has.
  std::string text(12, '\0');
  EXPECT_EQ(base::read_at(first->number(), 0, text).value(), 12U);
  EXPECT_EQ(text, "a large file");
  EXPECT_EQ(base::read_at(second->number(), 0, text).value(), 12U);
  EXPECT_EQ(text, "another file");
}

TEST_F(KeptFilesTest, AWriteInPlaceIsSeenBeforeItsBytesAreSent) {
  write("a", "a large file");
  const std::string before = tag("/a");
  write("a", "A LARGE FILE");
  times_.advance(10ms);
  const std::string after = tag("/a");
  EXPECT_NE(after, before);
  EXPECT_NE(after, "");
}

TEST_F(KeptFilesTest, AWriteInPlaceIsSeenAtOnceByRequestsForAPart) {
  write("a", "a large file");
  const std::string before = tag("/a");
  write("a", "A LARGE FILE");
  EXPECT_NE(tag("/a", {.is_part = true}), before);
}

TEST_F(KeptFilesTest, ATruncatedFileIsNoticed) {
  write("a", "a large file");
  ASSERT_GE(find("/a"), 0);
  std::filesystem::resize_file(tree_ / "a", 11);
  times_.advance(10ms);
  const auto found = cache_.find("/a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stat().size_bytes, 11U);
  std::filesystem::resize_file(tree_ / "a", 3);
  times_.advance(10ms);
  EXPECT_NE(cache_.find("/a")->cached, nullptr);
  EXPECT_EQ(cache_.kept_count(), 0U);
}

TEST_F(KeptFilesTest, AFileThatMayNoLongerBeReadIsNotSent) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  write("a", "a large file");
  ASSERT_GE(find("/a"), 0);
  std::filesystem::permissions(tree_ / "a", std::filesystem::perms::none);
  times_.advance(10ms);
  EXPECT_EQ(find("/a"), -2);
}

TEST_F(KeptFilesTest, AFileThatBecomesAFolderIsOne) {
  write("a", "a large file");
  ASSERT_GE(find("/a"), 0);
  std::filesystem::remove(tree_ / "a");
  tree_.make("a");
  times_.advance(1s);
  EXPECT_FALSE(cache_.find("/a")->is_file());
  EXPECT_EQ(cache_.kept_count(), 0U);
}

TEST_F(KeptFilesTest, NeitherSmallNorHugeFilesNorFoldersStayOpen) {
  write("small", "0123456789");
  write("edge", std::string(1000, 'x'));
  write("huge", std::string(1001, 'x'));
  tree_.make("folder");
  EXPECT_EQ(find("/small"), -1);
  EXPECT_GE(find("/edge"), 0);
  EXPECT_EQ(find("/huge"), -1);
  EXPECT_EQ(find("/folder"), -1);
  EXPECT_EQ(cache_.kept_count(), 1U);
}

TEST_F(KeptFilesTest, AFileThatWasWrittenJustNowDoesNotStayOpen) {
  tree_.write("a", "a large file");
  times_.set_wall(std::chrono::system_clock::now());
  EXPECT_EQ(find("/a"), -1);
  // Nor does one whose modification time was set back: its inode tells.
  support::set_modified(tree_ / "a", std::chrono::seconds(1'500'000'000));
  EXPECT_EQ(find("/a"), -1);
  times_.advance(10s);
  EXPECT_GE(find("/a"), 0);
}

TEST_F(KeptFilesTest, TheLeastRecentlyUsedFileIsClosed) {
  for (const std::string_view name : {"a", "b", "c", "d"}) write(name, "a large file");
  const std::size_t open = base::open_files_count();
  const int first = find("/a");
  for (const std::string_view path : {"/b", "/c", "/a", "/d"}) EXPECT_GE(find(path), 0);
  EXPECT_EQ(cache_.kept_count(), 3U);
  EXPECT_EQ(base::open_files_count(), open + 3);
  EXPECT_EQ(find("/a"), first);
}

TEST_F(KeptFilesTest, FilesThatNobodyAsksForAreClosed) {
  for (const std::string_view name : {"a", "b"}) write(name, "a large file");
  for (const std::string_view path : {"/a", "/b"}) EXPECT_GE(find(path), 0);
  times_.advance(9s);
  EXPECT_GE(find("/b"), 0);
  times_.advance(1s);
  EXPECT_EQ(find("/other"), -2);
  EXPECT_EQ(cache_.kept_count(), 1U);
}

TEST_F(KeptFilesTest, AllCachesTogetherKeepFewFilesOpen) {
  const support::OpenFilesLimit limit(256);
  const std::size_t most = kept_files_at_most(256);
  for (std::size_t i = 0; i < most + 2; ++i) write(std::to_string(i), "a large file");
  std::vector<std::unique_ptr<FileCache>> caches;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < most + 2; ++i) {
    caches.push_back(
        std::make_unique<FileCache>(root_, times_, fields_, FileCacheOptions{.file_bytes = 10}));
    const auto found = caches.back()->find("/" + std::to_string(i));
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->is_file());
    kept += caches.back()->kept_count();
  }
  EXPECT_EQ(kept, most);
  // A full cache gives one of its own away for another.
  EXPECT_NE(caches.front()->find("/1")->kept, nullptr);
  EXPECT_EQ(caches.front()->kept_count(), 1U);
  caches.clear();
  EXPECT_GE(find("/0"), 0);
}

TEST_F(KeptFilesTest, ALargeSiblingStaysOpenWhileItIsCurrent) {
  write("a.js", "a large script");
  write("a.js.br", "compressed text");
  const FileFields fields{.siblings = true};
  CodedCache coded(root_, times_, fields, coding::Coding::Brotli,
                   {.file_bytes = 10, .settled = 10ms});
  const auto find_form = [&] {
    const auto plain = cache_.find("/a.js");
    return coded.find("/a.js", *plain, {});
  };
  const auto form = find_form();
  ASSERT_TRUE(form && form->kept != nullptr);
  EXPECT_EQ(form->coding, coding::Coding::Brotli);
  EXPECT_EQ(form->kept->head.coding, "br");
  const int number = form->kept->file->number();
  const std::size_t open = base::open_files_count();
  times_.advance(2s);
  EXPECT_EQ(find_form()->kept->file->number(), number);
  EXPECT_EQ(base::open_files_count(), open);
  write("a.js", "a newer script");
  times_.advance(2s);
  EXPECT_FALSE(find_form());
  write("a.js.br", "a newer text");
  times_.advance(2s);
  EXPECT_EQ(find_form()->stat().size_bytes, 12U);
  std::filesystem::remove(tree_ / "a.js.br");
  times_.advance(2s);
  EXPECT_FALSE(find_form());
}

TEST_F(KeptFilesTest, AFileThatIsCopiedOftenIsReadOnce) {
  write("a", "a large file");
  EXPECT_EQ(copies_until_loaded("/a"), 8);
  const SharedText first = cache_.find("/a", copied)->kept->bytes;
  EXPECT_EQ(first.text, "a large file");
  times_.advance(500ms);
  EXPECT_EQ(cache_.find("/a", copied)->kept->bytes.text.data(), first.text.data());
  EXPECT_FALSE(cache_.find("/a")->is_copied);
}

TEST_F(KeptFilesTest, AFileThatTheKernelSendsIsNotRead) {
  write("a", "a large file");
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(cache_.find("/a")->kept->bytes.owner);
}

TEST_F(KeptFilesTest, BytesInMemoryAreThoseOfTheirTag) {
  write("a", "a large file");
  EXPECT_EQ(copies_until_loaded("/a"), 8);
  const std::string before = tag("/a");
  const SharedText sent = cache_.find("/a", copied)->kept->bytes;
  write("a", "A LARGE FILE");
  times_.advance(10ms);
  EXPECT_EQ(copies_until_loaded("/a"), 8);
  EXPECT_EQ(cache_.find("/a", copied)->kept->bytes.text, "A LARGE FILE");
  EXPECT_NE(tag("/a"), before);
  EXPECT_EQ(sent.text, "a large file");  // a response that is being sent goes on
}

TEST_F(KeptFilesTest, AFileThatChangesBeforeItIsReadIsNotSentUnderTheOldTag) {
  write("a", "a large file");
  for (int i = 0; i < 8; ++i) ASSERT_NE(cache_.find("/a", copied)->kept, nullptr);
  write("a", "A LARGE FILE");  // less than 10 ms after the last look
  EXPECT_FALSE(cache_.find("/a", copied)->kept->bytes.owner);
}

TEST_F(KeptFilesTest, FilesInMemoryHaveABudget) {
  for (const std::string_view name : {"a", "b", "c"}) write(name, std::string(40, name[0]));
  write("huge", std::string(101, 'x'));
  for (const std::string_view path : {"/a", "/b", "/a"}) copies_until_loaded(path);
  EXPECT_EQ(copies_until_loaded("/c"), 8);  // 120 bytes would be too many
  EXPECT_TRUE(cache_.find("/a", copied)->kept->bytes.owner);
  EXPECT_FALSE(cache_.find("/b", copied)->kept->bytes.owner);
  EXPECT_EQ(copies_until_loaded("/huge"), 20);
  EXPECT_TRUE(cache_.find("/a", copied)->kept->bytes.owner);
  times_.advance(10s);
  EXPECT_EQ(find("/other"), -2);
  EXPECT_EQ(cache_.loaded_bytes(), 0U);
}

TEST_F(KeptFilesTest, ResponsesOverTlsShareTheBytesOfAFile) {
  write("a.bin", std::string(100'000, 'x'));
  const auto site = std::make_unique<FileSite>(Root::open(tree_.string()).value(), FileOptions{},
                                               std::make_unique<ManualTimes>());
  const auto get = [&](bool is_secure, std::string_view range = {}) {
    skua::testing::FakeRequest fake("GET /a.bin");
    if (!range.empty()) fake.header("Range", range);
    http::RequestParts parts = http::RequestAccess::parts(fake.request());
    parts.is_secure = is_secure;
    return site->answer(Request(parts), "/a.bin");
  };
  for (int i = 0; i < 8; ++i) EXPECT_NE(get(true).content().file(), nullptr);
  const Response whole = get(true);
  EXPECT_EQ(whole.content().text(), std::string(100'000, 'x'));
  const Response part = get(true, "bytes=10-99999");
  EXPECT_EQ(part.status(), Status::PartialContent);
  EXPECT_EQ(part.content().text().data(), whole.content().text().data() + 10);
  EXPECT_EQ(part.header("ETag"), whole.header("ETag"));
  const Response plain = get(false);
  EXPECT_NE(plain.content().file(), nullptr);
  EXPECT_EQ(plain.header("ETag"), whole.header("ETag"));
}

TEST_F(KeptFilesTest, ResponsesShareAFileThatStaysOpen) {
  write("a.bin", std::string(100'000, 'x'));
  const auto site = std::make_unique<FileSite>(Root::open(tree_.string()).value(), FileOptions{},
                                               std::make_unique<ManualTimes>());
  const auto get = [&](std::string_view fields = {}) {
    skua::testing::FakeRequest fake("GET /a.bin");
    if (!fields.empty()) fake.header("Range", fields);
    return site->answer(fake.request(), "/a.bin");
  };
  const Response whole = get();
  const Response part = get("bytes=10-19");
  EXPECT_EQ(part.status(), Status::PartialContent);
  ASSERT_NE(whole.content().file(), nullptr);
  EXPECT_EQ(whole.content().file()->file, part.content().file()->file);
  EXPECT_EQ(part.content().file()->offset, 10U);
  EXPECT_EQ(part.header("ETag"), whole.header("ETag"));
  EXPECT_EQ(get("bytes=0-9,500-509").header("ETag"), whole.header("ETag"));
}

}  // namespace
}  // namespace skua::files
