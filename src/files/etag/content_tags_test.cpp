// SPDX-License-Identifier: MIT
#include "files/etag/content_tags.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "files/file_site.hpp"
#include "skua/files.hpp"
#include "skua/testing.hpp"
#include "support/manual_times.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::TemporaryDirectory;

constexpr const char* tag_of_empty = "\"e3b0c44298fc1c149afbf4c8996fb924\"";

// Calls a function until it returns a text; fails after a while.
template <class F>
std::string eventually(const F& get) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    if (std::string text = get(); !text.empty()) return text;
    std::this_thread::yield();
  }
  ADD_FAILURE() << "nothing came";
  return {};
}

class ContentTagsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ContentTags::is_available()) GTEST_SKIP() << "this build has no hashes";
  }

  TemporaryDirectory tree_;
};

// A served folder of its own.
class Node {
 public:
  explicit Node(FileOptions options = {.content_etags = true}) {
    auto times = std::make_unique<support::ManualTimes>();
    times_ = times.get();
    site_ = std::make_unique<FileSite>(Root::open(tree_.string()).value(), std::move(options),
                                       std::move(times));
  }
  Response get(std::string_view path, std::string_view name = {}, std::string_view value = {}) {
    skua::testing::FakeRequest fake("GET " + std::string(path));
    if (!name.empty()) fake.header(name, value);
    const Request& request = fake.request();
    return site_->answer(request, request.path());
  }
  std::string etag(std::string_view path) {
    return std::string(get(path).header("ETag").value_or(""));
  }

  TemporaryDirectory tree_;
  support::ManualTimes* times_ = nullptr;
  std::unique_ptr<FileSite> site_;
};

TEST_F(ContentTagsTest, AreThoseOfTheBytes) {
  EXPECT_EQ(ContentTags::of(""), tag_of_empty);
  EXPECT_NE(ContentTags::of("a"), ContentTags::of("b"));
}

TEST_F(ContentTagsTest, AreTheSameForSmallFilesOnEveryNode) {
  Node one;
  Node other;
  one.tree_.write("a.txt", "same");
  support::set_modified(one.tree_ / "a.txt", std::chrono::seconds(1'500'000'000));
  other.tree_.write("a.txt", "same");
  EXPECT_EQ(one.etag("/a.txt"), other.etag("/a.txt"));
  EXPECT_EQ(one.etag("/a.txt"), ContentTags::of("same"));
  EXPECT_EQ(one.get("/a.txt", "If-None-Match", other.etag("/a.txt")).status(), Status::NotModified);
  other.tree_.write("a.txt", "news");
  other.times_->advance(1s);
  EXPECT_EQ(other.etag("/a.txt"), ContentTags::of("news"));
}

TEST_F(ContentTagsTest, OfAYoungSmallFileIsStrong) {
  Node node;
  node.tree_.write("a.txt", "young");
  node.times_->set_wall(std::chrono::system_clock::now());
  EXPECT_EQ(node.etag("/a.txt"), ContentTags::of("young"));
}

TEST_F(ContentTagsTest, OfLargeFilesComeLater) {
  const std::string text(1'000'000, 'x');
  Node node;
  node.tree_.write("a.bin", text);
  const Response first = node.get("/a.bin");
  EXPECT_EQ(first.status(), Status::Ok);
  EXPECT_TRUE(first.header("Last-Modified"));
  const std::string tag = eventually([&] { return node.etag("/a.bin"); });
  EXPECT_EQ(tag, ContentTags::of(text));
  EXPECT_EQ(node.get("/a.bin", "If-None-Match", tag).status(), Status::NotModified);
  // Deployed again: other times, and another inode.
  std::filesystem::remove(node.tree_ / "a.bin");
  node.tree_.write("a.bin", text);
  support::set_modified(node.tree_ / "a.bin", std::chrono::seconds(1'500'000'000));
  node.times_->advance(1s);
  EXPECT_EQ(eventually([&] { return node.etag("/a.bin"); }), tag);
  node.tree_.write("a.bin", text + "y");
  node.times_->advance(1s);
  EXPECT_EQ(eventually([&] { return node.etag("/a.bin"); }), ContentTags::of(text + "y"));
}

TEST_F(ContentTagsTest, OfALargeYoungFileIsNotMade) {
  Node node;
  node.tree_.write("a.bin", std::string(100'000, 'x'));
  node.times_->set_wall(std::chrono::system_clock::now());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(node.etag("/a.bin"), "");
}

TEST_F(ContentTagsTest, OfCompressedFormsDiffer) {
  Node node({.compress = true, .content_etags = true});
  const std::string text(5000, 'x');
  node.tree_.write("a.txt", text);
  const Response coded = node.get("/a.txt", "Accept-Encoding", "gzip");
  if (!coded.header("Content-Encoding")) GTEST_SKIP() << "this build has no gzip";
  std::string expected = "W/" + ContentTags::of(text);
  expected.insert(expected.size() - 1, "-gzip");
  EXPECT_EQ(coded.header("ETag"), expected);
  // A large file is compressed while it is sent, with or without a tag.
  node.tree_.write("b.txt", std::string(100'000, 'x'));
  EXPECT_EQ(node.get("/b.txt", "Accept-Encoding", "gzip").status(), Status::Ok);
  eventually([&] {
    return std::string(node.get("/b.txt", "Accept-Encoding", "gzip").header("ETag").value_or(""));
  });
}

TEST_F(ContentTagsTest, ASiblingHasItsOwn) {
  Node node({.precompressed = true, .content_etags = true});
  node.tree_.write("a.js", "script");
  node.tree_.write("a.js.br", "coded");
  node.tree_.write("b.js", std::string(100'000, 'x'));
  node.tree_.write("b.js.br", std::string(90'000, 'y'));
  EXPECT_EQ(node.get("/a.js", "Accept-Encoding", "br").header("ETag"), ContentTags::of("coded"));
  EXPECT_EQ(
      eventually([&] {
        return std::string(node.get("/b.js", "Accept-Encoding", "br").header("ETag").value_or(""));
      }),
      ContentTags::of(std::string(90'000, 'y')));
}

TEST_F(ContentTagsTest, AreNotMadeOfAStateThatIsGone) {
  tree_.write("a.bin", std::string(100'000, 'x'));
  const auto root = std::make_shared<const Root>(Root::open(tree_.string()).value());
  const ContentTags tags(root);
  FileStat stat = root->find("/a.bin")->stat;
  stat.modified_ns -= 1;
  EXPECT_EQ(tags.find("/a.bin", stat), "");
  EXPECT_EQ(tags.find("/none", {.size_bytes = 1}), "");
  // The thread works in order: once this one is there, those above were tried.
  tree_.write("b.bin", "b");
  const FileStat other = root->find("/b.bin")->stat;
  EXPECT_EQ(eventually([&] { return tags.find("/b.bin", other); }), ContentTags::of("b"));
  EXPECT_EQ(tags.find("/a.bin", stat), "");
}

TEST_F(ContentTagsTest, StopInTheMiddleOfALargeFile) {
  tree_.write("a.bin", "");
  std::filesystem::resize_file(tree_ / "a.bin", std::uintmax_t{1} << 40U);  // minutes to read
  const auto root = std::make_shared<const Root>(Root::open(tree_.string()).value());
  const FileStat stat = root->find("/a.bin")->stat;
  const auto begin = std::chrono::steady_clock::now();
  {
    const ContentTags tags(root);
    EXPECT_EQ(tags.find("/a.bin", stat), "");
    for (std::size_t i = 0; i < 2 * ContentTags::most_waiting; ++i) {
      FileStat different = stat;
      different.inode = i;
      EXPECT_EQ(tags.find("/other", different), "");
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(ContentTags, NeedHashes) {
  const TemporaryDirectory tree;
  tree.write("a", "a");
  const FileOptions options{.content_etags = true};
  EXPECT_EQ(FileHandler::open(tree.string(), options).has_value(), ContentTags::is_available());
}

}  // namespace
}  // namespace skua::files
