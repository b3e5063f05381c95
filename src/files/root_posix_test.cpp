// SPDX-License-Identifier: MIT
#include "files/safe_path.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/hostile_paths.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::hostile_paths;
using support::TemporaryDirectory;

// All tests on the tree run with both resolvers.
class SafePathTree : public testing::TestWithParam<Root::Resolver> {
 protected:
  void SetUp() override {
    outside_.write("secret.txt", "secret");
    tree_.write("a.txt", "hello");
    tree_.write("dir/b.txt", "bb");
    tree_.write(".env", "KEY");
    tree_.write(".well-known/x", "public");
    tree_.link("a.txt", "inside");
    tree_.link("dir", "inside-dir");
    tree_.link("../a.txt", "dir/up");
    tree_.link((outside_ / "secret.txt").string(), "outside");
    tree_.link(outside_.string(), "outside-dir");
    tree_.link("../../../../../../../../etc/passwd", "climb");
    tree_.link("/proc/self/root", "magic");
    tree_.link("loop-b", "loop-a");
    tree_.link("loop-a", "loop-b");
    tree_.link("nowhere", "dangling");
    // Skipped if the kernel lacks openat2.
    auto root = Root::open(tree_.string(), {}, GetParam());
    if (!root && root.error().code() == Errc::Unsupported)
      GTEST_SKIP() << "the kernel lacks openat2";
    ASSERT_TRUE(root);
  }
  Root open(PathPolicy policy = {}) const {
    return Root::open(tree_.string(), policy, GetParam()).value();
  }
  static Errc code(const Result<OpenFile>& file) { return file ? Errc::None : file.error().code(); }

  TemporaryDirectory tree_;
  TemporaryDirectory outside_;
};

TEST_P(SafePathTree, OpensFilesAndDirectories) {
  const Root root = open();
  auto file = root.find("/a.txt");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->stat.size_bytes, 5u);
  EXPECT_EQ(file->stat.kind, FileKind::Regular);
  EXPECT_GT(file->stat.modified_ns, 1'000'000'000'000'000'000);
  char text[8] = {};
  EXPECT_EQ(read(file->descriptor.number(), text, sizeof text), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_NE(fcntl(file->descriptor.number(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(root.find("/dir/b.txt")->stat.size_bytes, 2u);
  for (const std::string_view path : {"/", "/dir", "/dir/"}) {
    EXPECT_EQ(root.find(path)->stat.kind, FileKind::Directory) << path;
  }
}

TEST_P(SafePathTree, AFileWithATrailingSlashIsNotFound) {
  EXPECT_EQ(code(open().find("/a.txt/")), Errc::NotFound);
  EXPECT_EQ(code(open().find("/a.txt/b")), Errc::NotFound);
  EXPECT_EQ(code(open().find("/none")), Errc::NotFound);
}

TEST_P(SafePathTree, RefusesHostilePaths) {
  const Root root = open({.dotfiles = true});
  for (const std::string& path : hostile_paths) {
    EXPECT_EQ(code(root.find(path)), Errc::NotFound) << path;
  }
}

TEST_P(SafePathTree, NeverLeavesTheRootByALink) {
  for (const bool follow : {true, false}) {
    const Root root = open({.follow_symlinks = follow});
    for (const std::string_view path :
         {"/outside", "/outside-dir", "/outside-dir/", "/outside-dir/secret.txt", "/climb",
          "/magic", "/magic/etc/passwd", "/loop-a", "/loop-a/x", "/dangling"}) {
      EXPECT_EQ(code(root.find(path)), Errc::NotFound) << path;
    }
  }
}

TEST_P(SafePathTree, FollowsLinksInsideTheRootUnlessToldNotTo) {
  const bool follows = GetParam() == Root::Resolver::Kernel;
  for (const std::string_view path : {"/inside", "/inside-dir/b.txt", "/inside-dir/", "/dir/up"}) {
    EXPECT_EQ(code(open().find(path)), follows ? Errc::None : Errc::NotFound) << path;
    EXPECT_EQ(code(open({.follow_symlinks = false}).find(path)), Errc::NotFound) << path;
  }
}

TEST_P(SafePathTree, FollowsAbsoluteLinksToPlacesInside) {
  const bool follows = GetParam() == Root::Resolver::Kernel;
  const TemporaryDirectory other;
  other.link(tree_.string(), "root");
  tree_.link((tree_ / "a.txt").string(), "absolute");
  tree_.link((tree_ / "dir").string(), "absolute-dir");
  tree_.link((tree_ / "dir/../a.txt").string(), "absolute-up");
  tree_.link((other / "root/a.txt").string(), "detour");  // leaves the root and comes back
  tree_.link("../" + tree_.path().filename().string() + "/a.txt", "round");
  tree_.link("absolute-dir/b.txt", "two");
  tree_.link(tree_.string(), "dir/root");
  tree_.link(tree_.string() + "-no/a.txt", "sibling");
  for (const std::string_view path :
       {"/absolute", "/absolute-dir/", "/absolute-dir/b.txt", "/absolute-up", "/detour", "/round",
        "/two", "/dir/root/", "/dir/root/a.txt"}) {
    EXPECT_EQ(code(open().find(path)), follows ? Errc::None : Errc::NotFound) << path;
    EXPECT_EQ(code(open({.follow_symlinks = false}).find(path)), Errc::NotFound) << path;
  }
  EXPECT_EQ(code(open().find("/sibling")), Errc::NotFound);
  EXPECT_EQ(code(open().find("/absolute/")), Errc::NotFound);
}

TEST_P(SafePathTree, NeverLeadsToASiblingWithTheSameBeginning) {
  const std::string sibling = tree_.string() + "-more";
  ASSERT_EQ(mkdir(sibling.c_str(), 0700), 0);
  const Descriptor secret(::open((sibling + "/s").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  tree_.link(sibling + "/s", "s");
  EXPECT_EQ(code(open().find("/s")), Errc::NotFound);
  unlink((sibling + "/s").c_str());
  rmdir(sibling.c_str());
}

TEST_P(SafePathTree, ALinkRevealsNoDotfile) {
  const bool follows = GetParam() == Root::Resolver::Kernel;
  tree_.write(".git/config", "url");
  tree_.link(".env", "env");
  tree_.link((tree_ / ".env").string(), "absolute-env");
  tree_.link(".git", "git");
  tree_.link("env", "twice");
  tree_.link(".well-known/x", "public");
  for (const std::string_view path :
       {"/env", "/absolute-env", "/git", "/git/", "/git/config", "/twice"}) {
    EXPECT_EQ(code(open().find(path)), Errc::NotFound) << path;
    EXPECT_EQ(code(open({.dotfiles = true}).find(path)), follows ? Errc::None : Errc::NotFound)
        << path;
  }
  EXPECT_EQ(code(open().find("/public")), follows ? Errc::None : Errc::NotFound);
}

TEST_P(SafePathTree, ServesOrdinaryNamesThatWindowsWouldRefuse) {
  for (const std::string name : {"2026-11-22T20:37:30.log", "con", "aux.txt", "end.", "trail "}) {
    tree_.write(name, "x");
    EXPECT_EQ(code(open().find("/" + name)), Errc::None) << name;
  }
}

TEST_P(SafePathTree, HidesDotfiles) {
  EXPECT_EQ(code(open().find("/.env")), Errc::NotFound);
  EXPECT_EQ(code(open({.dotfiles = true}).find("/.env")), Errc::None);
  EXPECT_EQ(code(open().find("/.well-known/x")), Errc::None);
}

TEST_P(SafePathTree, NeitherServesNorWaitsForSpecialFiles) {
  ASSERT_EQ(mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (tree_ / "socket").string();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.c_str(), name.size());
  ASSERT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(code(open().find("/fifo")), Errc::NotFound);
  EXPECT_EQ(code(open().find("/socket")), Errc::NotFound);
  close(listener);
  const auto devices = Root::open("/dev", {}, GetParam());
  if (devices) {
    EXPECT_EQ(code(devices->find("/null")), Errc::NotFound);
  }
}

TEST_P(SafePathTree, KeepsTheDirectoryThatWasOpened) {
  const Root root = open();
  const std::string moved = tree_.string() + "-moved";
  ASSERT_EQ(rename(tree_.string().c_str(), moved.c_str()), 0);
  EXPECT_EQ(code(root.find("/a.txt")), Errc::None);
  ASSERT_EQ(rename(moved.c_str(), tree_.string().c_str()), 0);
}

// Waits until a file is found, or no longer, which takes as long as the interval of checks.
void wait_for(const Root& root, std::string_view path, Errc expected) {
  while (true) {
    const auto found = root.find(path);
    if ((found ? Errc::None : found.error().code()) == expected) return;
    std::this_thread::yield();
  }
}

// As `rm -rf dist && build` does.
TEST_P(SafePathTree, FollowsItsNameToANewDirectory) {
  tree_.write("dist/old", "old");
  const auto root = Root::open((tree_ / "dist").string(), {}, GetParam());
  ASSERT_TRUE(root);
  EXPECT_EQ(code(root->find("/old")), Errc::None);
  std::filesystem::remove_all(tree_ / "dist");
  wait_for(*root, "/old", Errc::Overloaded);
  EXPECT_EQ(code(root->find("/")), Errc::Overloaded);
  tree_.write("dist/new", "new");
  EXPECT_EQ(code(root->find("/new")), Errc::None) << "what is gone is looked for at once";
  EXPECT_EQ(code(root->find("/old")), Errc::NotFound);
}

TEST_P(SafePathTree, TellsOnceOfEachChange) {
  tree_.write("dist/a", "1");
  auto root = Root::open((tree_ / "dist").string(), {}, GetParam());
  ASSERT_TRUE(root);
  std::string lines;
  root->on_replaced([&](std::string_view line) { lines.append(line).append("\n"); });
  const std::string name = (tree_ / "dist").string();
  EXPECT_EQ(code(root->find("/a")), Errc::None);
  EXPECT_EQ(lines, "");
  std::filesystem::remove_all(name);
  wait_for(*root, "/a", Errc::Overloaded);
  EXPECT_EQ(code(root->find("/a")), Errc::Overloaded);
  const std::string gone =
      name + " is gone, or was replaced and cannot be opened: requests get 503 until it is there\n";
  EXPECT_EQ(lines, gone);
  tree_.write("dist/a", "2");
  EXPECT_EQ(code(root->find("/a")), Errc::None);
  const std::string replaced = name + " was replaced: the new folder is served from now on\n";
  EXPECT_EQ(lines, gone + replaced);
  std::filesystem::rename(name, tree_ / "old");
  tree_.write("dist/b", "3");
  wait_for(*root, "/b", Errc::None);
  EXPECT_EQ(lines, gone + replaced + replaced);
}

// As `ln -sfn` does.
TEST_P(SafePathTree, FollowsItsNameToTheTargetOfANewLink) {
  tree_.write("releases/1/one", "1");
  tree_.write("releases/2/two", "2");
  tree_.link("releases/1", "current");
  const auto root = Root::open((tree_ / "current").string(), {}, GetParam());
  ASSERT_TRUE(root);
  EXPECT_EQ(code(root->find("/one")), Errc::None);
  tree_.link("releases/2", "next");
  std::filesystem::rename(tree_ / "next", tree_ / "current");
  wait_for(*root, "/two", Errc::None);
  EXPECT_EQ(code(root->find("/one")), Errc::NotFound);
}

TEST_P(SafePathTree, LeaksNoDescriptor) {
  const Root root = open();
  const int before = dup(0);
  for (int i = 0; i < 50; ++i) {
    for (const std::string_view path : {"/dir/b.txt", "/", "/none", "/climb", "/dir/none"}) {
      (void)root.find(path);
    }
  }
  close(before);
  const int after = dup(0);
  close(after);
  EXPECT_EQ(before, after);
}

INSTANTIATE_TEST_SUITE_P(Resolvers, SafePathTree,
                         testing::Values(Root::Resolver::Kernel, Root::Resolver::Components),
                         [](const auto& parameter) {
                           return parameter.param == Root::Resolver::Kernel ? "Kernel"
                                                                            : "Components";
                         });

TEST(Root, SaysWhyADirectoryCannotBeServed) {
  TemporaryDirectory tree;
  tree.write("file", "x");
  EXPECT_EQ(Root::open((tree / "none").string()).error().code(), Errc::NotFound);
  EXPECT_EQ(Root::open((tree / "file").string()).error().code(), Errc::NotFound);
}

}  // namespace
}  // namespace skua::files
