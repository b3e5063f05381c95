// SPDX-License-Identifier: MIT
// Uploads that end with their process, that meet links, or that find the disk full.
#include "files/upload/upload_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif

#include "skua/async.hpp"
#include "skua/bytes.hpp"
#include "skua/uploads.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

std::shared_ptr<const UploadSite> open_site(const std::string& folder, UploadOptions options = {}) {
  const PathPolicy policy{.follow_symlinks = options.follow_symlinks};
  return std::make_shared<const UploadSite>(Root::open(folder, policy).value(), options);
}

bool is_empty(const std::string& folder) { return std::filesystem::is_empty(folder); }

// Runs a function in a process of its own. Returns its result, which is 0 to 255.
template <class F>
int in_child(const F& run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Writes until the disk refuses. Returns the status of the refusal, less 300.
int fill(const std::string& folder) {
  UploadFile file(open_site(folder), "/a", nullptr);
  if (file.begin()) return 1;
  const std::string content(64_KiB, 'x');
  for (int i = 0; i < 64; ++i) {
    const Result<void> written = file.write(content);
    if (!written) return static_cast<int>(code(failed(written.error()).status)) - 300;
  }
  return 2;
}

TEST(UploadFilePosix, NothingIsLeftOfAKilledProcessAfterTheNextStart) {
  const support::TemporaryDirectory tree;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    UploadFile file(open_site(tree.string()), "/a", nullptr);
    const bool is_begun = !file.begin() && file.write("content");
    if (::write(ready[1], is_begun ? "1" : "0", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char is_begun = 0;
  EXPECT_EQ(::read(ready[0], &is_begun, 1), 1);
  EXPECT_EQ(is_begun, '1');
  EXPECT_TRUE(UploadHandler::open(tree.string()));
  EXPECT_FALSE(is_empty(tree.string()));  // it is in use
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_empty(tree.string()));
  EXPECT_TRUE(UploadHandler::open(tree.string()));
  EXPECT_TRUE(is_empty(tree.string()));
  ::close(ready[0]);
  ::close(ready[1]);
}

// NFS locks no file that its descriptor may not write.
TEST(UploadFilePosix, AFileIsOpenedToWriteToLockItIfThatIsPossible) {
  const support::TemporaryDirectory tree;
  tree.write("a", "");
  const Folder folder(Descriptor(::open(tree.string().c_str(), O_RDONLY | O_DIRECTORY)));
  const Descriptor file(folder.open_to_lock("a"));
  EXPECT_EQ(::fcntl(file.number(), F_GETFL) & O_ACCMODE, O_WRONLY);
  if (::geteuid() == 0) return;  // who may write anything
  ASSERT_EQ(::chmod((tree / "a").c_str(), 0444), 0);
  const Descriptor read_only(folder.open_to_lock("a"));
  EXPECT_EQ(::fcntl(read_only.number(), F_GETFL) & O_ACCMODE, O_RDONLY);
}

// Drops an upload while the pool of this loop can do nothing. Returns whether its file is open
// then.
Task<bool> is_open_after_drop(std::string folder) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  const auto hold = [&gone] { gone.wait(); };
  Scope scope;
  for (int i = 0; i < 16; ++i) scope.spawn(offload(hold));
  auto file = std::make_unique<UploadFile>(open_site(folder), "/a", nullptr);
  EXPECT_FALSE(file->begin());
  const std::string path = std::filesystem::directory_iterator(folder)->path();
  const Descriptor probe(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  file.reset();
  EXPECT_TRUE(is_empty(folder));
  const bool is_locked = !disk::lock(probe.number());
  go.set_value();
  auto joining = scope.join();
  co_await joining;
  co_return is_locked;
}

TEST(UploadFilePosix, AnotherThreadFreesTheContentOfADroppedUpload) {
  const support::TemporaryDirectory tree;
  EXPECT_TRUE(run(is_open_after_drop(tree.string())));
}

TEST(UploadFilePosix, AFileThatIsTooLongForTheFileSystemIsRefusedAndRemoved) {
  const support::TemporaryDirectory tree;
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 256_KiB, .rlim_max = 256_KiB};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
    return fill(tree.string());
  });
  EXPECT_EQ(status + 300, 413);
  EXPECT_TRUE(is_empty(tree.string()));
}

#if defined(__linux__)
bool write_file(const char* path, const std::string& text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && write_all(file.number(), text);
}

constexpr int skipped = 77;

// Mounts a small disk that only this process sees, as the root of a world of its own.
bool mount_small_disk(const std::string& folder) {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", "0 " + user + " 1") &&
         write_file("/proc/self/gid_map", "0 " + group + " 1") &&
         ::mount("none", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
}

TEST(UploadFilePosix, AFullDiskIsReportedAndNothingIsLeftOnIt) {
  const support::TemporaryDirectory tree;
  const int status = in_child([&] {
    if (!mount_small_disk(tree.string())) return skipped;
    const int result = fill(tree.string());
    return is_empty(tree.string()) ? result : 4;
  });
  if (status == skipped) GTEST_SKIP() << "this system lets no user mount a disk";
  EXPECT_EQ(status + 300, 507);
}
#endif

TEST(UploadFilePosix, LinksAreNeitherReplacedNorFollowedOutOfTheFolder) {
  const support::TemporaryDirectory outside;
  const support::TemporaryDirectory tree;
  outside.write("secret.txt", "secret");
  tree.make("dir");
  tree.link((outside / "secret.txt").string(), "file");
  tree.link("nowhere", "dangling");
  tree.link(outside.string(), "out");
  tree.link("dir", "in");
  const auto status = [&](const char* path, UploadOptions options) {
    const auto refused = UploadFile(open_site(tree.string(), options), path, nullptr).begin();
    return refused ? refused->status : Status::Ok;
  };
  const UploadOptions overwrites{.overwrite = true};
  EXPECT_EQ(status("/file", overwrites), Status::Conflict);
  EXPECT_EQ(status("/dangling", overwrites), Status::Conflict);
  EXPECT_EQ(status("/out/new", overwrites), Status::NotFound);
  EXPECT_EQ(status("/in/new", {.follow_symlinks = false}), Status::NotFound);
  if (open_site(tree.string())->root().resolver() != Root::Resolver::Kernel) return;
  EXPECT_EQ(status("/in/new", overwrites), Status::Ok);
}

}  // namespace
}  // namespace skua::files
