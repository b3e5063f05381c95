// SPDX-License-Identifier: MIT
// In: a path whose names were checked. Out: its file, resolved by the system beneath the root.
#include "files/safe_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#if defined(__linux__)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

namespace skua::files {
namespace {

// A FIFO must not block the thread, and a terminal must not become the controlling terminal.
constexpr int open_flags = disk::for_reading;

#if defined(__linux__) && defined(SYS_openat2)
int open_resolved(int directory, const char* path, int flags, std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  while (true) {
    const long number = syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (number >= 0) return static_cast<int>(number);
    if (errno != EINTR) return -1;
  }
}

int open_beneath(int directory, const char* path) noexcept {
  return open_resolved(directory, path, open_flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

// Returns the current path of an open descriptor, or nullopt without /proc.
std::optional<std::string> path_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, 4096> buffer;
  const ssize_t size = readlink(link.c_str(), buffer.data(), buffer.size());
  if (size < 0 || static_cast<std::size_t>(size) == buffer.size()) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

// Resolves links to a canonical path below the directory; returns nullopt if the target is outside.
// O_PATH only locates the file, without opening it.
std::optional<std::string> follow_links(int directory, const char* path) {
  Descriptor target(open_resolved(directory, path, O_PATH | O_CLOEXEC, 0));
  // The target of a magic link is opened by its name below the root, or not at all.
  if (!target && errno == ENOSYS) target = Descriptor(openat(directory, path, O_PATH | O_CLOEXEC));
  if (!target) return std::nullopt;
  const std::optional<std::string> place = path_of(target.number());
  std::optional<std::string> root = path_of(directory);
  if (!place || !root) return std::nullopt;
  if (*place == *root) return "/";
  if (*root == "/") root->clear();
  if (!place->starts_with(*root + "/")) return std::nullopt;
  return place->substr(root->size());
}
#else
int open_beneath(int, const char*) noexcept {
  errno = ENOSYS;
  return -1;
}

std::optional<std::string> follow_links(int, const char*) { return std::nullopt; }
#endif

// Opens a path segment by segment without following links; `path` is relative and already checked.
int open_by_components(int directory, const std::string& path) noexcept {
  Descriptor folder;
  std::size_t begin = 0;
  while (true) {
    const int from = folder ? folder.number() : directory;
    const std::size_t slash = path.find('/', begin);
    if (slash == std::string::npos) {
      const std::string name = begin < path.size() ? path.substr(begin) : ".";
      return openat(from, name.c_str(), open_flags | O_NOFOLLOW);
    }
    const std::string name = path.substr(begin, slash - begin);
    Descriptor next(openat(from, name.c_str(), open_flags | O_NOFOLLOW | O_DIRECTORY));
    if (!next) return -1;
    folder = std::move(next);
    begin = slash + 1;
  }
}

}  // namespace

Result<Root> Root::open(const std::string& directory, PathPolicy policy, Resolver resolver) {
  Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Error::from_system(errno, "open directory");
  if (resolver != Resolver::Components) {
    // A sandbox may refuse openat2 with EPERM, an old kernel with ENOSYS.
    const Descriptor probe(open_beneath(folder.number(), "."));
    if (!probe && resolver == Resolver::Kernel) return Error(Errc::Unsupported, "openat2", errno);
    resolver = probe ? Resolver::Kernel : Resolver::Components;
  }
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(directory, failed);
  return Root(std::move(folder), policy, resolver, failed ? std::string() : absolute.string());
}

// The number of the descriptor stays the same, so that threads which use it need not know.
Root::Named Root::follow_name() const {
  struct stat named{};
  struct stat opened{};
  if (::fstat(directory_.number(), &opened) != 0) return Named::Same;
  const bool is_named = ::stat(name_->path.c_str(), &named) == 0;
  if (!is_named || !S_ISDIR(named.st_mode)) {  // it may just be renamed
    return opened.st_nlink != 0 ? Named::Same : Named::None;
  }
  if (named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) return Named::Same;
  const Descriptor next(::open(name_->path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!next) return Named::None;
#if defined(__linux__)
  const bool is_moved = ::dup3(next.number(), directory_.number(), O_CLOEXEC) >= 0;
#else
  const bool is_moved = ::dup2(next.number(), directory_.number()) >= 0 &&
                        ::fcntl(directory_.number(), F_SETFD, FD_CLOEXEC) == 0;
#endif
  return is_moved ? Named::Another : Named::None;
}

int Root::open_file(std::string_view path) const {
  const std::string relative(path == "/" ? "." : path.substr(1));
  const int directory = directory_.number();
  if (resolver_ == Resolver::Components) return open_by_components(directory, relative);
  int number = open_beneath(directory, relative.c_str());
  // In a sandbox that forbids the call, the names are followed one by one.
  const bool is_forbidden = number < 0 && errno == ENOSYS;
  if (is_forbidden) number = open_by_components(directory, relative);
  const bool may_be_link = errno == ELOOP || (is_forbidden && errno == ENOTDIR);
  if (number >= 0 || !may_be_link || !policy_.follow_symlinks) return number;
  // The target of a link is served if its own path could be requested.
  const std::optional<std::string> target = follow_links(directory, relative.c_str());
  if (!target || !is_safe_path(*target, policy_)) {
    errno = ENOENT;
    return -1;
  }
  const std::string plain = *target == "/" ? "." : target->substr(1);
  return is_forbidden ? open_by_components(directory, plain)
                      : open_beneath(directory, plain.c_str());
}

}  // namespace skua::files
