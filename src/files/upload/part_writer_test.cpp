// SPDX-License-Identifier: MIT
#include "files/upload/part_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
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

  support::TemporaryDirectory tree_;
  std::shared_ptr<const UploadSite> site_ = std::make_shared<const UploadSite>(
      Root::open(tree_.string(), {}).value(), UploadOptions{.overwrite = true});
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
