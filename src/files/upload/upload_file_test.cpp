// SPDX-License-Identifier: MIT
#include "files/upload/upload_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "files/file_site.hpp"
#include "skua/testing.hpp"
#include "support/hostile_paths.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using testing::FakeRequest;
using Fields = std::vector<std::pair<std::string, std::string>>;

class UploadFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write("old.txt", "old");
    tree_.make("dir");
    serve({.overwrite = true});
  }
  void serve(UploadOptions options) {
    const PathPolicy policy{.dotfiles = options.dotfiles,
                            .follow_symlinks = options.follow_symlinks};
    site_ = std::make_shared<const UploadSite>(Root::open(tree_.string(), policy).value(), options);
  }
  std::unique_ptr<UploadFile> make(const std::string& path, const Fields& fields = {}) const {
    FakeRequest fake("PUT /");
    for (const auto& [name, value] : fields) fake.header(name, value);
    return std::make_unique<UploadFile>(site_, path, detail::keep_request(fake.request()));
  }
  // Begins an upload and writes its content.
  std::unique_ptr<UploadFile> start(const std::string& path, std::string_view content,
                                    const Fields& fields = {}) const {
    auto file = make(path, fields);
    const auto refused = file->begin();
    EXPECT_FALSE(refused) << refused->reason;
    EXPECT_TRUE(file->write(content));
    EXPECT_TRUE(file->keep());
    return file;
  }
  Status refusal(const std::string& path, const Fields& fields = {}) const {
    const auto refused = make(path, fields)->begin();
    return refused ? refused->status : Status::Ok;
  }
  std::string content(std::string_view name) const {
    std::ifstream file(tree_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> names(std::string_view folder = "") const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(tree_ / folder)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  support::TemporaryDirectory tree_;
  std::shared_ptr<const UploadSite> site_;
};

using Names = std::vector<std::string>;

TEST_F(UploadFileTest, AFileHasItsNameOnceItIsComplete) {
  const auto file = start("/dir/new.txt", "content");
  ASSERT_EQ(names("dir").size(), 1u);
  EXPECT_TRUE(is_unfinished(names("dir")[0]));
  const UploadResult result = file->commit();
  EXPECT_EQ(result.status, Status::Created);
  EXPECT_EQ(names("dir"), Names{"new.txt"});
  EXPECT_EQ(content("dir/new.txt"), "content");
  EXPECT_TRUE(result.etag.starts_with('"')) << result.etag;
}

TEST_F(UploadFileTest, ReplacingIsAnOption) {
  EXPECT_EQ(start("/old.txt", "new")->commit().status, Status::NoContent);
  EXPECT_EQ(content("old.txt"), "new");
  serve({});
  EXPECT_EQ(refusal("/old.txt"), Status::Conflict);
  EXPECT_EQ(refusal("/other.txt"), Status::Ok);
  EXPECT_EQ(names(), (Names{"dir", "old.txt"}));
}

TEST_F(UploadFileTest, OfTwoNewFilesWithOneNameTheFirstStays) {
  serve({});
  const auto first = start("/a", "first");
  const auto second = start("/a", "second");
  EXPECT_EQ(first->commit().status, Status::Created);
  EXPECT_EQ(second->commit().status, Status::Conflict);
  EXPECT_EQ(content("a"), "first");
}

TEST_F(UploadFileTest, OfTwoUpdatesOfOneVersionTheFirstStays) {
  const UploadResult made = start("/a", "0")->commit();
  const Fields only_that = {{"If-Match", made.etag}};
  const auto first = start("/a", "first", only_that);
  const auto second = start("/a", "second", only_that);
  EXPECT_EQ(first->commit().status, Status::NoContent);
  EXPECT_EQ(second->commit().status, Status::PreconditionFailed);
  EXPECT_EQ(content("a"), "first");
  EXPECT_EQ(refusal("/a", only_that), Status::PreconditionFailed);
}

TEST_F(UploadFileTest, ConditionsAreCheckedBeforeTheContentAndAfterIt) {
  EXPECT_EQ(refusal("/old.txt", {{"If-None-Match", "*"}}), Status::PreconditionFailed);
  EXPECT_EQ(refusal("/new.txt", {{"If-Match", "*"}}), Status::PreconditionFailed);
  EXPECT_EQ(refusal("/old.txt", {{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}),
            Status::PreconditionFailed);
  EXPECT_EQ(refusal("/old.txt", {{"If-Match", "\"other\""}}), Status::PreconditionFailed);
  const auto file = start("/new.txt", "mine", {{"If-None-Match", "*"}});
  tree_.write("new.txt", "theirs");
  EXPECT_EQ(file->commit().status, Status::PreconditionFailed);
  EXPECT_EQ(content("new.txt"), "theirs");
}

TEST_F(UploadFileTest, EachVersionHasATagOfItsOwn) {
  const std::string first = start("/a", "same")->commit().etag;
  EXPECT_NE(first, start("/a", "same")->commit().etag);
}

TEST_F(UploadFileTest, NothingIsLeftOfAnUploadThatEndsEarly) {
  make("/a")->begin();
  start("/b", "content").reset();
  EXPECT_EQ(names(), (Names{"dir", "old.txt"}));
}

TEST_F(UploadFileTest, HostilePathsAreRefused) {
  for (const std::string& path : support::hostile_paths) {
    const Status status = refusal(path);
    EXPECT_TRUE(status == Status::Forbidden || status == Status::Conflict) << path;
  }
  for (const char* path : {"/.env", "/.git/config", "/dir/.well-known", "/.skua-upload-0", "/.."}) {
    EXPECT_EQ(refusal(path), Status::Forbidden) << path;
  }
  serve({.dotfiles = true});
  EXPECT_EQ(refusal("/.env"), Status::Ok);
  EXPECT_EQ(refusal("/.skua-upload-0"), Status::Forbidden);
  EXPECT_EQ(refusal("/.SKUA-upload-0/a"), Status::Forbidden);
  EXPECT_EQ(names(), (Names{"dir", "old.txt"}));
}

TEST_F(UploadFileTest, OnlyFilesAreReplaced) {
  EXPECT_EQ(refusal("/dir"), Status::Conflict);
  EXPECT_EQ(refusal("/dir/"), Status::Conflict);
  EXPECT_EQ(refusal("/old.txt/a"), Status::NotFound);
  EXPECT_EQ(refusal("/none/a"), Status::NotFound);
}

TEST_F(UploadFileTest, UnfinishedFilesAreNeitherServedNorListed) {
  const auto file = start("/a", "content");
  const std::string temporary = names()[0];
  const FileSite files(Root::open(tree_.string(), {.dotfiles = true}).value(),
                       {.listing = true, .dotfiles = true}, std::make_unique<TimeSource>());
  FakeRequest request("GET /" + temporary);
  EXPECT_EQ(files.answer(request.request(), "/" + temporary).status(), Status::NotFound);
  FakeRequest listing("GET /");
  const Response listed = files.answer(listing.request(), "/");
  EXPECT_NE(listed.body().find("old.txt"), std::string_view::npos);
  EXPECT_EQ(listed.body().find(temporary), std::string_view::npos);
}

TEST_F(UploadFileTest, OnlyUnusedTemporaryFilesAreRemoved) {
  const auto file = start("/a", "content");
  tree_.write("dir/deep/.skua-upload-0123456789abcdef", "left");
  tree_.write(".skua-upload-fedcba9876543210", "left");
  tree_.write("dir/.skua-upload", "not ours");
  tree_.make("dir/.skua-upload-folder");
  remove_unfinished(tree_.string());
  EXPECT_EQ(names().size(), 3u);  // also that of `file`
  EXPECT_EQ(names("dir"), (Names{".skua-upload", ".skua-upload-folder", "deep"}));
  EXPECT_EQ(names("dir/deep"), Names{});
  EXPECT_EQ(file->commit().status, Status::Created);
}

TEST(UploadResults, SayWhatTheDiskLacks) {
  EXPECT_EQ(failed(Error::from_system(ENOSPC, "write")).status, Status::InsufficientStorage);
  EXPECT_EQ(failed(Error::from_system(EFBIG, "write")).status, Status::ContentTooLarge);
  EXPECT_EQ(failed(Error::from_system(EACCES, "open")).status, Status::Forbidden);
  EXPECT_EQ(failed(Error::from_system(EIO, "write")).status, Status::InternalServerError);
}

}  // namespace
}  // namespace skua::files
