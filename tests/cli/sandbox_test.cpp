// SPDX-License-Identifier: MIT
// Code in a process that has entered the sandbox of `skua serve`, as an attacker would run it: what
// it can still do, and how everything else fails.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "base/file_io.hpp"
#include "files/safe_path.hpp"
#include "serve/sandbox/sandbox.hpp"
#include "support/temporary_directory.hpp"

namespace skua::cli {
namespace {

// Runs a function in a child process, and returns its result. A signal that ends the child counts
// as a negative number.
int in_child(const std::function<int()>& run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Returns 0 or errno, as the results of these tests are.
int outcome(long result) { return result < 0 ? errno : 0; }

int opened(const std::string& path, int flags = O_RDONLY) {
  return outcome(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

int listed(const std::string& path) { return ::opendir(path.c_str()) == nullptr ? errno : 0; }

constexpr int failed_to_enter = 200;

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write("www/file", "served");
    tree_.write("keys/key", "secret");
    tree_.write("elsewhere/other", "secret");
    tree_.link("../elsewhere/other", "www/link");
    needs_.access.listed = {path("www")};
    needs_.access.readable = {path("keys")};
    if (!std::filesystem::exists("/proc/self")) GTEST_SKIP() << "not on Linux";
    const int missing = in_child([this] {
      const auto holds = enter_sandbox(needs_);
      return holds && holds->find("missing") == std::string::npos ? 0 : 1;
    });
    if (missing != 0) GTEST_SKIP() << "this kernel or build has no complete sandbox";
  }
  [[nodiscard]] std::string path(std::string_view name) const { return (tree_ / name).string(); }
  // The result of a function that runs in the sandbox.
  [[nodiscard]] int inside(const std::function<int()>& run) const {
    return in_child([&] { return enter_sandbox(needs_) ? run() : failed_to_enter; });
  }

  support::TemporaryDirectory tree_;
  SandboxNeeds needs_;
};

TEST_F(Sandbox, ReadsTheServedFolder) {
  EXPECT_EQ(inside([&] { return opened(path("www/file")); }), 0);
  EXPECT_EQ(inside([&] { return listed(path("www")); }), 0);
}

TEST_F(Sandbox, AsksWhetherAFileIsInMemory) {
  const auto ask = [&] {
    const disk::Descriptor file(::open(path("www/file").c_str(), O_RDONLY | O_CLOEXEC));
    char byte = 0;
    base::start_reading(file.number(), 0, 1);
    const auto count = base::read_resident(file.number(), 0, {&byte, 1});
    const disk::Descriptor other(base::duplicate_file(file.number()));
    return !other ? EBADF : count ? 0 : count.error().system_code();
  };
  EXPECT_EQ(inside(ask), ask());  // some file systems cannot tell
}

TEST_F(Sandbox, ReadsNoOtherFile) {
  for (const std::string& other :
       {std::string("/etc/passwd"), std::string("/proc/self/maps"), path("elsewhere/other"),
        path("www/link"), path("www/../elsewhere/other")}) {
    ASSERT_EQ(opened(other), 0) << other;
    EXPECT_EQ(inside([&] { return opened(other); }), EACCES) << other;
  }
  for (const std::string& other : {std::string("/"), tree_.string(), path("elsewhere")}) {
    EXPECT_EQ(inside([&] { return listed(other); }), EACCES) << other;
  }
}

TEST_F(Sandbox, ReadsFilesThatReplaceOthersButDoesNotListTheirFolder) {
  EXPECT_EQ(inside([&] { return opened(path("keys/key")); }), 0);
  EXPECT_EQ(inside([&] { return listed(path("keys")); }), EACCES);
  tree_.write("keys/new", "renewed");
  std::filesystem::rename(tree_ / "keys/new", tree_ / "keys/key");
  EXPECT_EQ(inside([&] { return opened(path("keys/key")); }), 0);
}

TEST_F(Sandbox, ChangesNoFile) {
  const std::string file = path("www/file");
  const std::string fresh = path("www/fresh");
  EXPECT_EQ(inside([&] { return opened(file, O_WRONLY); }), EACCES);
  EXPECT_EQ(inside([&] { return opened(file, O_RDWR); }), EACCES);
  EXPECT_EQ(inside([&] { return opened(file, O_RDONLY | O_TRUNC); }), EACCES);
  EXPECT_EQ(inside([&] { return opened(fresh, O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_EQ(inside([&] { return outcome(::unlink(file.c_str())); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::truncate(file.c_str(), 0)); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::rename(file.c_str(), fresh.c_str())); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::mkdir(fresh.c_str(), 0700)); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::chmod(file.c_str(), 0777)); }), EPERM);
}

TEST_F(Sandbox, RemovesFilesOnlyFromTheFolderOfItsSocket) {
  needs_.access.removable = {path("elsewhere")};
  needs_.calls.unlink = true;
  EXPECT_EQ(inside([&] { return outcome(::unlink(path("elsewhere/other").c_str())); }), 0);
  EXPECT_EQ(inside([&] { return outcome(::unlink(path("www/file").c_str())); }), EACCES);
}

// Returns 0 or errno of a connection to this port of this machine.
int connected(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return outcome(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

TEST_F(Sandbox, ReachesOnlyThePortsOfUpstreamServers) {
  needs_.calls.connect = true;
  needs_.access.connected = {1};  // nothing listens there
  EXPECT_EQ(inside([] { return connected(1); }), ECONNREFUSED);
  EXPECT_EQ(inside([] { return connected(2); }), EACCES);
  EXPECT_EQ(inside([] { return outcome(::socket(AF_INET, SOCK_DGRAM, 0)); }), EPERM);
  EXPECT_EQ(inside([] { return outcome(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 0)); }), EPERM);
}

TEST_F(Sandbox, ChangesFilesOnlyInTheFolderOfUploads) {
  tree_.write("www/inbox/file", "");
  needs_.access.writable = {path("www/inbox")};
  needs_.calls.uploads = true;
  const std::string fresh = path("www/inbox/fresh");
  const std::string file = path("www/inbox/file");
  EXPECT_EQ(inside([&] { return opened(fresh, O_WRONLY | O_CREAT | O_EXCL); }), 0);
  EXPECT_EQ(
      inside([&] { return outcome(::renameat(AT_FDCWD, fresh.c_str(), AT_FDCWD, file.c_str())); }),
      0);
  EXPECT_EQ(inside([&] { return outcome(::unlinkat(AT_FDCWD, file.c_str(), 0)); }), 0);
  EXPECT_EQ(inside([&] { return opened(path("www/fresh"), O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_EQ(inside([&] { return opened(path("www/file"), O_WRONLY); }), EACCES);
  EXPECT_EQ(inside([&] { return outcome(::unlinkat(AT_FDCWD, path("www/file").c_str(), 0)); }),
            EACCES);
  EXPECT_EQ(inside([&] { return outcome(::mkdir(path("www/inbox/new").c_str(), 0700)); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::symlinkat("/etc/passwd", AT_FDCWD, fresh.c_str())); }),
            EPERM);
}

// Such a file has the rights of the server's user, which may be root, for everybody.
TEST_F(Sandbox, MakesNoFileThatRunsAsItsUser) {
  tree_.make("www/dav");
  needs_.access.changeable = {path("www/dav")};
  needs_.calls.uploads = true;
  needs_.calls.webdav = true;
  const std::string fresh = path("www/dav/fresh");
  const std::string folder = path("www/dav");
  const int making = O_WRONLY | O_CREAT | O_CLOEXEC;
  for (const unsigned bits : {04000U, 02000U, 06000U, 0U}) {
    const int expected = bits == 0 ? 0 : EPERM;
    const unsigned mode = bits | 0755U;
    EXPECT_EQ(inside([&] { return outcome(::open(fresh.c_str(), making, mode)); }), expected);
    EXPECT_EQ(inside([&] {
                return outcome(::syscall(SYS_openat, AT_FDCWD, fresh.c_str(), making, mode));
              }),
              expected);
#if defined(SYS_open)
    EXPECT_EQ(inside([&] { return outcome(::syscall(SYS_open, fresh.c_str(), making, mode)); }),
              expected);
    EXPECT_EQ(inside([&] { return outcome(::syscall(SYS_creat, fresh.c_str(), mode)); }), EPERM);
    EXPECT_EQ(inside([&] { return outcome(::syscall(SYS_chmod, fresh.c_str(), mode)); }), EPERM);
#endif
    EXPECT_EQ(inside([&] {
                return outcome(::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
              }),
              expected);
    const std::string name = fresh + std::to_string(bits);
    EXPECT_EQ(inside([&] { return outcome(::mkdirat(AT_FDCWD, name.c_str(), mode)); }), expected);
    struct {
      std::uint64_t flags;
      std::uint64_t mode;
      std::uint64_t resolve;
    } const how{.flags = making, .mode = mode, .resolve = 0};
    EXPECT_EQ(inside([&] {
                return outcome(::syscall(SYS_openat2, AT_FDCWD, fresh.c_str(), &how, sizeof how));
              }),
              ENOSYS);
    EXPECT_EQ(inside([&] { return outcome(::mknodat(AT_FDCWD, name.c_str(), S_IFREG | mode, 0)); }),
              EPERM);
    EXPECT_EQ(inside([&] {
                const int file = ::open(fresh.c_str(), making, 0755);
                return file < 0 ? 1 : outcome(::fchmod(file, mode));
              }),
              EPERM);
  }
  const std::array<std::uint32_t, 5> capabilities = {0x02000001, ~0U, 0, ~0U, 0};
  EXPECT_EQ(inside([&] {
              const int file = ::open(fresh.c_str(), making, 0755);
              return file < 0 ? 1
                              : outcome(::fsetxattr(file, "security.capability",
                                                    capabilities.data(), sizeof capabilities, 0));
            }),
            EPERM);
}

TEST_F(Sandbox, FollowsLinksWithAndWithoutOpenat2) {
  tree_.write("www/dav/target", "found");
  tree_.make("www/dav/sub");
  tree_.link("target", "www/dav/link");
  tree_.link("sub", "www/dav/subs");
  tree_.write("www/dav/sub/inner", "found");
  needs_.access.changeable = {path("www/dav")};
  for (const bool has_uploads : {false, true}) {
    needs_.calls.uploads = has_uploads;
    const auto root = files::Root::open(path("www/dav"));
    ASSERT_TRUE(root);
    const auto found = [&](std::string_view name) {
      return inside([&] {
        const auto file = root->find(name);
        return file ? 0 : file.error().system_code();
      });
    };
    for (const char* name : {"/", "/target", "/link", "/subs/", "/subs/inner", "/sub/inner"}) {
      EXPECT_EQ(found(name), 0) << name << has_uploads;
    }
    EXPECT_EQ(found("/none"), ENOENT);
    EXPECT_NE(found("/target/inner"), 0);
    tree_.link("../../elsewhere/other", "www/dav/out" + std::to_string(has_uploads));
    EXPECT_NE(found("/out" + std::to_string(has_uploads)), 0);
  }
}

TEST_F(Sandbox, ChangesFoldersOnlyInThatOfWebDav) {
  tree_.make("www/dav/a");
  tree_.make("www/dav/b");
  tree_.make("www/other");
  tree_.write("www/dav/a/file", "");
  needs_.access.changeable = {path("www/dav")};
  needs_.calls.uploads = true;
  needs_.calls.webdav = true;
  const auto made = [](const std::string& name) {
    return outcome(::mkdirat(AT_FDCWD, name.c_str(), 0700));
  };
  const auto moved = [](const std::string& from, const std::string& to) {
    return outcome(::renameat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str()));
  };
  const auto removed = [](const std::string& name) {
    return outcome(::unlinkat(AT_FDCWD, name.c_str(), AT_REMOVEDIR));
  };
  EXPECT_EQ(inside([&] { return made(path("www/dav/new")); }), 0);
  EXPECT_EQ(inside([&] { return moved(path("www/dav/a/file"), path("www/dav/b/file")); }), 0);
  EXPECT_EQ(inside([&] { return moved(path("www/dav/b"), path("www/dav/a/b")); }), 0);
  EXPECT_EQ(inside([&] { return removed(path("www/dav/new")); }), 0);
  EXPECT_EQ(inside([&] { return made(path("www/new")); }), EACCES);
  EXPECT_EQ(inside([&] { return removed(path("www/other")); }), EACCES);
  EXPECT_NE(inside([&] { return moved(path("www/dav/a/b"), path("www/b")); }), 0);
  EXPECT_NE(inside([&] { return moved(path("www/file"), path("www/dav/file")); }), 0);
  EXPECT_EQ(
      inside([&] { return outcome(::symlinkat("/etc", AT_FDCWD, path("www/dav/etc").c_str())); }),
      EPERM);
}

TEST_F(Sandbox, ReachesNoOtherMachine) {
  EXPECT_EQ(inside([] { return outcome(::socket(AF_INET, SOCK_STREAM, 0)); }), EPERM);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const place = reinterpret_cast<const sockaddr*>(&address);
  EXPECT_EQ(inside([&] { return outcome(::connect(socket, place, sizeof address)); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::bind(socket, place, sizeof address)); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::listen(socket, 1)); }), EPERM);
  ::close(socket);
}

// Processes and tasks that the filter ends the process for.
TEST_F(Sandbox, StartsNoProgramAndReachesIntoNoProcess) {
  const auto execute = [] {
    char name[] = "/bin/true";
    char* const words[] = {name, nullptr};
    return outcome(::execv(name, words));
  };
  std::array<char, 8> bytes{};
  const iovec place{bytes.data(), bytes.size()};
  const pid_t parent = ::getpid();
  const std::pair<const char*, std::function<long()>> attempts[] = {
      {"execve", execute},
      {"execveat", [] { return ::syscall(SYS_execveat, -1, "/bin/true", nullptr, nullptr, 0); }},
      {"fork", [] { return ::fork(); }},
      {"clone", [] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0); }},
      {"ptrace", [&] { return ::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr); }},
      {"process_vm_readv", [&] { return ::process_vm_readv(parent, &place, 1, &place, 1, 0); }},
#if defined(__x86_64__)
      {"vfork", [] { return ::syscall(SYS_vfork); }},
      {"x32", [] { return ::syscall(0x4000'0000 + SYS_getpid); }},
#endif
  };
  for (const auto& [name, attempt] : attempts) {
    EXPECT_EQ(inside([&] { return outcome(attempt()); }), -SIGSYS) << name;
  }
}

TEST_F(Sandbox, SignalsNoOtherProcess) {
  const pid_t parent = ::getpid();
  EXPECT_EQ(inside([&] { return outcome(::kill(parent, 0)); }), EPERM);
  EXPECT_EQ(inside([&] { return outcome(::syscall(SYS_tgkill, parent, parent, 0)); }), EPERM);
  EXPECT_EQ(inside([] { return outcome(::syscall(SYS_tgkill, ::getpid(), ::getpid(), 0)); }), 0);
}

TEST_F(Sandbox, KnowsItsLimitsAndChangesNone) {
  const std::size_t limit = base::open_files_limit();
  EXPECT_EQ(inside([&] { return base::open_files_limit() == limit ? 0 : 1; }), 0);
  rlimit limits{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limits), 0);
  EXPECT_EQ(inside([&] { return outcome(::setrlimit(RLIMIT_NOFILE, &limits)); }), EPERM);
  const pid_t parent = ::getpid();
  EXPECT_EQ(inside([&] { return outcome(::prlimit(parent, RLIMIT_NOFILE, nullptr, &limits)); }),
            EPERM);
}

TEST_F(Sandbox, MakesNoMemoryExecutable) {
  const auto pages = [](int protection) {
    void* const made = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // musl reports a refusal as a lack of memory.
    if (made != MAP_FAILED) return 0;
    return errno == ENOMEM ? EPERM : errno;
  };
  EXPECT_EQ(inside([&] { return pages(PROT_READ | PROT_WRITE); }), 0);
  EXPECT_EQ(inside([&] { return pages(PROT_READ | PROT_EXEC); }), EPERM);
  void* const page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_EQ(inside([&] { return outcome(::mprotect(page, 4096, PROT_READ | PROT_WRITE)); }), 0);
  EXPECT_EQ(inside([&] { return outcome(::mprotect(page, 4096, PROT_READ | PROT_EXEC)); }), EPERM);
  ::munmap(page, 4096);
}

TEST_F(Sandbox, RefusesOtherCallsAndDoesNotKnowNewOnes) {
  EXPECT_EQ(inside([] { return outcome(::mount("a", "/", "tmpfs", 0, nullptr)); }), EPERM);
  EXPECT_EQ(inside([] { return outcome(::prctl(PR_SET_NAME, "other")); }), EPERM);
  EXPECT_EQ(inside([] { return outcome(::syscall(SYS_io_uring_setup, 1, nullptr)); }), EPERM);
  EXPECT_EQ(inside([] { return outcome(::syscall(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0)); }),
            EPERM);
  EXPECT_EQ(inside([] { return outcome(::syscall(SYS_clone3, nullptr, 0)); }), ENOSYS);
  EXPECT_EQ(inside([] { return outcome(::syscall(100'000)); }), ENOSYS);
}

TEST_F(Sandbox, LetsRingsRunButMakesNone) {
  needs_.calls.io_uring = true;
  EXPECT_EQ(inside([] { return outcome(::syscall(SYS_io_uring_setup, 1, nullptr)); }), EPERM);
  EXPECT_EQ(inside([] { return outcome(::syscall(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0)); }),
            EBADF);
  constexpr int no_ring = 99'999;
  const auto change = [](unsigned operation) {
    return outcome(::syscall(SYS_io_uring_register, no_ring, operation, nullptr, 0));
  };
  constexpr unsigned register_files = 2;
  constexpr unsigned enable_rings = 12;
  EXPECT_EQ(inside([&] { return change(register_files); }), EPERM);
  EXPECT_EQ(inside([&] { return change(enable_rings); }), EBADF);
}

TEST_F(Sandbox, HoldsInThreadsThatAreStartedInIt) {
  const auto try_in_thread = [] {
    int result = 0;
    std::thread([&result] { result = opened("/etc/passwd"); }).join();
    return result;
  };
  EXPECT_EQ(inside(try_in_thread), EACCES);
  const auto kill_in_thread = [] {
    std::thread([] { ::syscall(SYS_execve, "/bin/true", nullptr, nullptr); }).join();
    return 0;
  };
  EXPECT_EQ(inside(kill_in_thread), -SIGSYS);
}

// Each layer alone, since one of them may be missing.

TEST_F(Sandbox, ForbidsNewPrivileges) {
  const auto ask = [] {
    if (!forbid_new_privileges()) return failed_to_enter;
    return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  };
  EXPECT_EQ(in_child(ask), 1);
}

TEST_F(Sandbox, LandlockAloneDeniesFilesAndTcp) {
  const auto restricted = [this](const std::function<int()>& run) {
    return in_child([&] {
      return forbid_new_privileges() && restrict_access(needs_.access) ? run() : failed_to_enter;
    });
  };
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const place = reinterpret_cast<const sockaddr*>(&address);
  const auto connected = [&] {
    return outcome(::connect(::socket(AF_INET, SOCK_STREAM, 0), place, sizeof address));
  };
  const auto bound = [&] {
    return outcome(::bind(::socket(AF_INET, SOCK_STREAM, 0), place, sizeof address));
  };
  EXPECT_EQ(restricted([&] { return opened("/etc/passwd"); }), EACCES);
  EXPECT_EQ(restricted([&] { return outcome(::unlink(path("www/file").c_str())); }), EACCES);
  EXPECT_EQ(restricted([&] { return outcome(::truncate(path("www/file").c_str(), 0)); }), EACCES);
  EXPECT_EQ(restricted(connected), EACCES);
  EXPECT_EQ(restricted(bound), EACCES);
}

TEST_F(Sandbox, NeedsTheFoldersToExist) {
  needs_.access.listed = {path("none")};
  const auto restrict = [this] {
    const auto done = restrict_access(needs_.access);
    return !done && done.error().code() == Errc::NotFound ? 0 : 1;
  };
  EXPECT_EQ(in_child(restrict), 0);
}

TEST(SandboxNeeds, AreTheFoldersOfWhatIsReadAgain) {
  const support::TemporaryDirectory tree;
  tree.write("archive/cert1", "");
  tree.make("live");
  tree.link("../archive/cert1", "live/cert");
  ServeOptions options{.folder = "www", .allow = {"10.0.0.0/8", "@lists/allow"}, .deny = {"@deny"}};
  options.server.tls.certificate = (tree / "live/cert").string();
  const SandboxNeeds needs = needs_of(options, BackendChoice::Epoll);
  EXPECT_EQ(needs.access.listed, std::vector<std::string>{"www"});
  const std::string archive = std::filesystem::canonical(tree / "archive").string();
  EXPECT_EQ(needs.access.readable,
            (std::vector<std::string>{"/dev/null", "lists", "lists", ".", ".",
                                      (tree / "live").string(), archive}));
  EXPECT_TRUE(needs.access.removable.empty());
  EXPECT_FALSE(needs.calls.unlink);
  EXPECT_FALSE(needs.calls.io_uring);
}

TEST(SandboxNeeds, HaveTheFolderOfASocketThatIsAFile) {
  ServeOptions options;
  options.server.host = "unix:/run/skua/socket";
  EXPECT_EQ(needs_of(options, BackendChoice::Epoll).access.removable,
            std::vector<std::string>{"/run/skua"});
  options.server.host = "unix:socket";
  EXPECT_EQ(needs_of(options, BackendChoice::Epoll).access.removable,
            std::vector<std::string>{"."});
  options.server.host = "unix:@name";
  EXPECT_TRUE(needs_of(options, BackendChoice::Epoll).access.removable.empty());
  EXPECT_TRUE(needs_of(options, BackendChoice::IoUring).calls.io_uring);
}

TEST(User, IsFoundByNameAndNumber) {
  EXPECT_EQ(find_user("root")->id, 0U);
  EXPECT_EQ(find_user("root")->group, 0U);
  EXPECT_EQ(find_user("0")->name, "0");
  EXPECT_EQ(find_user("root:12")->group, 12U);
  EXPECT_EQ(find_user("54321:12")->id, 54'321U);
  const std::pair<const char*, const char*> cases[] = {
      {"no-such-user", "--user: there is no user \"no-such-user\""},
      {"", "--user: there is no user \"\""},
      {"root:no-such-group", "--user: there is no group \"no-such-group\""},
      {"root:", "--user: there is no group \"\""},
      {"54321", "--user: user 54321 has no entry, so its group is needed: 54321:GROUP"},
      {"4294967295:0", "--user: there is no user \"4294967295\""},
      {"-1:0", "--user: there is no user \"-1\""},
  };
  for (const auto& [text, problem] : cases) {
    const auto found = find_user(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().text, problem);
  }
}

TEST(User, IsBecomeForGood) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto change = [] {
    std::array<gid_t, 8> groups{};
    if (!become({.name = "other", .id = 54'321, .group = 54'322})) return 1;
    if (::getuid() != 54'321 || ::geteuid() != 54'321) return 2;
    if (::getgid() != 54'322 || ::getegid() != 54'322) return 3;
    if (::getgroups(groups.size(), groups.data()) != 1 || groups[0] != 54'322) return 4;
    if (::setuid(0) == 0) return 5;
    if (!become({.name = "other", .id = 54'321, .group = 54'322})) return 6;  // nothing changes
    const auto back = become({.name = "root"});
    return !back && back.error().code() == Errc::PermissionDenied &&
                   back.error().text.ends_with("; --user needs root")
               ? 0
               : 7;
  };
  EXPECT_EQ(in_child(change), 0);
}

}  // namespace
}  // namespace skua::cli
