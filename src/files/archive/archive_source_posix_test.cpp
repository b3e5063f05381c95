// SPDX-License-Identifier: MIT
// Folders that change while their archive is made, and what is not in one.
#include "files/archive/archive_source.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::TemporaryDirectory;

// The names and contents of a tar; empty if it is not a whole one.
using Contents = std::map<std::string, std::string>;

Contents read_tar(const std::string& tar) {
  Contents contents;
  std::string long_name;
  for (std::size_t at = 0; at + 512 <= tar.size();) {
    if (tar[at] == '\0') return contents;
    std::string name = tar.substr(at, tar.substr(at, 100).find('\0'));
    const std::size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
    const std::string content = tar.substr(at + 512, size);
    if (tar[at + 156] == 'x') {
      const std::size_t begin = content.find("path=") + 5;
      long_name = content.substr(begin, content.find('\n', begin) - begin);
    } else {
      if (!long_name.empty()) name = std::exchange(long_name, "");
      EXPECT_TRUE(contents.emplace(name, content).second) << name;
    }
    at += 512 + (size + 511) / 512 * 512;
  }
  ADD_FAILURE() << "it has no end";
  return {};
}

std::vector<std::string> names_of(const Contents& contents) {
  std::vector<std::string> names;
  for (const auto& [name, content] : contents) names.push_back(name);
  return names;
}

class Archive : public ::testing::Test {
 protected:
  // Links are followed only where the kernel resolves paths below the root.
  bool follows_links() const {
    return Root::open(tree_.string(), {}, Root::Resolver::Kernel).has_value();
  }
  void begin(const std::string& path = "/", WalkLimits limits = {}, PathPolicy policy = {}) {
    auto root = std::make_shared<const Root>(Root::open(tree_.string(), policy).value());
    source_ =
        ArchiveSource::create(FolderWalk(std::move(root), path, "t", limits), ArchiveFormat::Tar)
            .value();
  }
  // Makes the rest; returns how that ends.
  Errc end() {
    while (!source_->is_done()) {
      const auto piece = source_->next();
      if (!piece) return piece.error().code();
      tar_ += *piece;
    }
    return Errc::None;
  }
  Contents contents() {
    EXPECT_EQ(end(), Errc::None);
    return read_tar(tar_);
  }
  // Makes pieces until one has the beginning of the file `large`.
  void begin_large() {
    tree_.write("large", std::string(3 * ArchiveSource::chunk_bytes, 'a'));
    support::set_modified(tree_ / "large", std::chrono::seconds(1'000'000));
    begin();
    tar_ += source_->next().value();
    ASSERT_GT(tar_.size(), ArchiveSource::chunk_bytes);
    ASSERT_FALSE(source_->is_done());
  }

  TemporaryDirectory tree_;
  std::unique_ptr<ArchiveSource> source_;
  std::string tar_;
};

TEST_F(Archive, HasWhatTheSiteWouldServe) {
  if (!follows_links()) GTEST_SKIP() << "the kernel lacks openat2";
  for (const char* name : {"a.txt", "sub/b", "sub/.git/config", ".env", "back\\slash", "sub/x\ny",
                           ".well-known/x", ".skua-upload-1"}) {
    tree_.write(name, name);
  }
  tree_.make("empty");
  tree_.link("a.txt", "link");
  tree_.link("sub", "folder");
  tree_.link(".env", "hidden");
  tree_.link("/etc/passwd", "outside");
  tree_.link("/etc", "etc");
  tree_.link("..", "up");
  tree_.link("nowhere", "dangling");
  ASSERT_EQ(mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  begin();
  const Contents found = contents();
  EXPECT_EQ(names_of(found),
            (std::vector<std::string>{"t/", "t/a.txt", "t/empty/", "t/folder/", "t/folder/b",
                                      "t/link", "t/sub/", "t/sub/b"}));
  EXPECT_EQ(found.at("t/link"), "a.txt");
}

TEST_F(Archive, ThePolicyOfTheSiteHolds) {
  tree_.write("a.txt", "a");
  tree_.write(".env", "e");
  tree_.link("a.txt", "link");
  begin("/", {}, {.dotfiles = true, .follow_symlinks = false});
  EXPECT_EQ(names_of(contents()), (std::vector<std::string>{"t/", "t/.env", "t/a.txt"}));
}

TEST_F(Archive, LinksInCirclesEnd) {
  tree_.write("a/b/file", "x");
  tree_.link(".", "self");
  tree_.link("../..", "a/b/top");
  tree_.link("../../a", "a/b/a");
  begin();
  EXPECT_EQ(names_of(contents()), (std::vector<std::string>{"t/", "t/a/", "t/a/b/", "t/a/b/file"}));
}

TEST_F(Archive, LinksThatMultiplyMeetTheLimit) {
  if (!follows_links()) GTEST_SKIP() << "the kernel lacks openat2";
  for (int i = 0; i < 20; ++i) {
    const std::string next = "../" + std::to_string(i + 1);
    tree_.make(std::to_string(i));
    tree_.link(next, std::to_string(i) + "/x");
    tree_.link(next, std::to_string(i) + "/y");
  }
  tree_.make("20");
  begin("/0/", {.entries = 1000});
  EXPECT_EQ(end(), Errc::BodyTooLong);
}

TEST_F(Archive, EntriesDepthAndNamesAreBounded) {
  tree_.write("a/b/c/d/file", "x");
  for (char c = '0'; c <= '9'; ++c) tree_.write("many/" + std::string(1, c), "x");
  const std::pair<WalkLimits, Errc> cases[] = {
      {{.depth = 4}, Errc::BodyTooLong},        {{.depth = 5}, Errc::None},
      {{.entries = 16}, Errc::BodyTooLong},     {{.entries = 17}, Errc::None},
      {{.held_bytes = 500}, Errc::BodyTooLong}, {{.held_bytes = 5000}, Errc::None}};
  for (const auto& [limits, outcome] : cases) {
    begin("/", limits);
    EXPECT_EQ(end(), outcome);
  }
}

TEST_F(Archive, NamesAreHarmlessAndUnique) {
  tree_.write("a\xff", "1");
  tree_.write("a%FF", "2");
  tree_.write("c:x/\u009b", "3");
  begin();
  const Contents found = contents();
  EXPECT_EQ(names_of(found),
            (std::vector<std::string>{"t/", "t/a%FF", "t/a%FF~1", "t/c%3Ax/", "t/c%3Ax/%C2%9B"}));
  EXPECT_EQ(found.at("t/a%FF"), "2");
  EXPECT_EQ(found.at("t/a%FF~1"), "1");
}

TEST_F(Archive, WhatVanishesIsLeftOut) {
  begin_large();
  tree_.write("z", "z");  // was not there when the names were read
  std::filesystem::remove(tree_ / "large");
  EXPECT_EQ(contents().at("t/large"), std::string(3 * ArchiveSource::chunk_bytes, 'a'));
  tree_.write("a", std::string(ArchiveSource::chunk_bytes, 'a'));
  tree_.write("b/c", "gone");
  tar_.clear();
  begin();
  tar_ += source_->next().value();
  std::filesystem::remove_all(tree_ / "b");
  EXPECT_EQ(names_of(contents()), (std::vector<std::string>{"t/", "t/a", "t/z"}));
}

TEST_F(Archive, AFolderThatIsGoneIsNoArchive) {
  tree_.make("a");
  begin("/a/");
  std::filesystem::remove(tree_ / "a");
  EXPECT_EQ(end(), Errc::NotFound);
}

TEST_F(Archive, AFileThatIsReplacedIsTheOldOne) {
  begin_large();
  tree_.write("new", "new");
  std::filesystem::rename(tree_ / "new", tree_ / "large");
  EXPECT_EQ(contents().at("t/large"), std::string(3 * ArchiveSource::chunk_bytes, 'a'));
}

TEST_F(Archive, AFileThatChangesEndsIt) {
  const std::function<void()> changes[] = {
      [this] { std::filesystem::resize_file(tree_ / "large", 5); },
      [this] { std::filesystem::resize_file(tree_ / "large", 5 * ArchiveSource::chunk_bytes); },
      [this] { tree_.write("large", std::string(3 * ArchiveSource::chunk_bytes, 'b')); },
  };
  for (const auto& change : changes) {
    tar_.clear();
    begin_large();
    change();
    EXPECT_EQ(end(), Errc::TruncatedBody);
    EXPECT_FALSE(source_->is_done());
  }
}

TEST_F(Archive, FoldersDoNotStayOpen) {
  tree_.write("a/b/c/d/e/f", std::string(3 * ArchiveSource::chunk_bytes, 'a'));
  const std::size_t before = base::open_files_count();
  begin();
  static_cast<void>(source_->next());
  EXPECT_LE(base::open_files_count(), before + 2);  // the root, and the file
}

TEST_F(Archive, APieceIsABoundedAmountOfWork) {
  for (int i = 0; i < 300; ++i) std::filesystem::create_directory(tree_ / std::to_string(i));
  begin();
  tar_ += source_->next().value();
  EXPECT_FALSE(source_->is_done());
  EXPECT_EQ(contents().size(), 301U);
}

}  // namespace
}  // namespace skua::files
