// SPDX-License-Identifier: MIT
#include "files/upload/part_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "files/file_site.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

class PartWriterTest : public ::testing::Test {
 protected:
  [[nodiscard]] PartAccess begin() const {
    return begin_part(site_, "/new.txt", {.name = "new.txt", .length_bytes = 10}, nullptr);
  }
  [[nodiscard]] PartAccess resume(const std::string& token) const {
    return resume_part(site_, "/", token, "");
  }
  [[nodiscard]] std::shared_ptr<const UploadSite> open_site() const {
    return std::make_shared<const UploadSite>(Root::open(tree_.string(), {}).value(),
                                              UploadOptions{.overwrite = true});
  }

  support::TemporaryDirectory tree_;
  std::shared_ptr<const UploadSite> site_ = open_site();
};

TEST_F(PartWriterTest, RequestsThatTakeOverAtOnceDoSoOneByOne) {
  const PartAccess begun = begin();
  ASSERT_TRUE(begun.writer);
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int times = 0; times < 200; ++times)
        refused += resume(begun.writer->token()).refused ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
}

// The connection of a request is lost with content that is not yet on the disk, and its client goes
// on at once.
TEST_F(PartWriterTest, ARequestThatTakesOverWaitsForOneThatLeaves) {
  const std::string content(std::size_t{4} << 20, 'x');
  PartAccess access = begin_part(site_, "/new.txt", {.name = "new.txt"}, nullptr);
  ASSERT_TRUE(access.writer);
  const std::string token = access.writer->token();
  for (std::uint64_t times = 1; times <= 20; ++times) {
    access.writer->add(bytes(content));
    std::atomic<bool> is_ready = false;
    std::thread leaving([&, writer = std::move(access.writer)]() mutable {
      is_ready = true;
      writer.reset();
    });
    while (!is_ready) std::this_thread::yield();
    access = resume(token);
    leaving.join();
    ASSERT_TRUE(access.writer) << access.refused->reason;
    EXPECT_EQ(access.writer->begin_bytes(), times * content.size());
  }
}

// As with settings that are read again: requests in progress keep the site that they began with.
TEST_F(PartWriterTest, ANewSiteOfTheFolderKnowsItsUploads) {
  const PartAccess begun = begin();
  ASSERT_TRUE(begun.writer);
  site_ = open_site();
  const PartAccess resumed = resume(begun.writer->token());
  ASSERT_TRUE(resumed.writer) << resumed.refused->reason;
  EXPECT_EQ(resumed.writer->commit().status, Status::Created);
  site_ = open_site();
  EXPECT_TRUE(site_->unfinished().find_finished(begun.writer->token()));
}

// As with the uploads of a process that has handed its sockets over.
TEST_F(PartWriterTest, AnUploadThatAnotherProcessBeganIsTakenOver) {
  PartAccess access = begin();
  ASSERT_TRUE(access.writer);
  const std::string token = access.writer->token();
  site_->unfinished().remove(token);
  access.writer.reset();
  for (int times = 0; times < 3; ++times) {
    const PartAccess resumed = resume(token);
    ASSERT_TRUE(resumed.writer) << resumed.refused->reason;
    access = resumed;
  }
  access.writer.reset();
  EXPECT_EQ(site_->unfinished().idle().size(), 1U);
}

TEST_F(PartWriterTest, AnUploadInProgressSurvivesASearchForRemnants) {
  const PartAccess begun = begin();
  ASSERT_TRUE(begun.writer);
  const UploadOptions limits{.resumable = true, .max_unfinished = 0};
  UnfinishedUploads others;
  remove_unfinished(tree_.string(), limits, &others);
  const PartAccess resumed = resume(begun.writer->token());
  ASSERT_TRUE(resumed.writer) << resumed.refused->reason;
  resumed.writer->leave();
  remove_unfinished(tree_.string(), limits, &others);
  EXPECT_TRUE(resume(begun.writer->token()).refused);
}

// As with WebDAV in a folder that also takes uploads.
TEST_F(PartWriterTest, ASearchWithoutARegistryRemovesOnlyWhatHasExpired) {
  const PartAccess begun = begin();
  ASSERT_TRUE(begun.writer);
  remove_unfinished(tree_.string());
  begun.writer->leave();
  remove_unfinished(tree_.string());
  const PartAccess resumed = resume(begun.writer->token());
  ASSERT_TRUE(resumed.writer) << resumed.refused->reason;
  resumed.writer->leave();
  remove_unfinished(tree_.string(), {.keep_unfinished = std::chrono::seconds(0)});
  EXPECT_TRUE(resume(begun.writer->token()).refused);
  EXPECT_TRUE(std::filesystem::is_empty(tree_.string()));
}

TEST_F(PartWriterTest, AnUploadIsEitherUnfinishedOrFinished) {
  for (int times = 0; times < 100; ++times) {
    const PartAccess begun = begin();
    ASSERT_TRUE(begun.writer);
    const std::string token = begun.writer->token();
    std::atomic<bool> is_ready = false;  // std::barrier of GCC 12 for Windows may never wake
    std::thread committing([&] {
      is_ready = true;
      (void)begun.writer->commit();
    });
    while (!is_ready) std::this_thread::yield();
    const PartAccess resumed = resume(token);
    const bool is_finished = site_->unfinished().find_finished(token).has_value();
    EXPECT_EQ(is_finished, resumed.refused.has_value());
    committing.join();
    if (resumed.writer) resumed.writer->remove();
  }
}

}  // namespace
}  // namespace skua::files
