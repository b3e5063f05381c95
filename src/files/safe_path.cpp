// SPDX-License-Identifier: MIT
// In: a canonical path. Out: an open file that is guaranteed to lie below the root.
// Two independent guards: names are checked as text before the system sees them, and the system
// resolves them beneath the root, so that no link or concurrent rename leads outside.
#include "files/safe_path.hpp"

#include "base/ascii.hpp"
#include "base/file_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>

#if defined(__linux__)
#include <linux/openat2.h>
#include <sys/syscall.h>
#endif

namespace skua::files {
namespace {

// A FIFO must not block the thread, and a terminal must not become the controlling terminal.
constexpr int open_flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

constexpr std::size_t max_name_bytes = 255;
constexpr std::size_t max_path_bytes = 4095;

// Windows opens a device for these names in any folder, whatever follows the first dot.
bool is_device_name(std::string_view name) noexcept {
  std::string_view stem = name.substr(0, name.find('.'));
  while (!stem.empty() && stem.back() == ' ') stem.remove_suffix(1);
  for (const std::string_view device :
       {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}) {
    if (ascii::equals_ignoring_case(stem, device)) return true;
  }
  if (stem.size() < 4) return false;
  const std::string_view unit = stem.substr(3);
  if (!ascii::equals_ignoring_case(stem.substr(0, 3), "com") &&
      !ascii::equals_ignoring_case(stem.substr(0, 3), "lpt"))
    return false;
  // COM1 and also COM¹, COM², COM³ (Latin-1 superscripts)
  return (unit.size() == 1 && unit[0] >= '0' && unit[0] <= '9') || unit == "\u00B9" ||
         unit == "\u00B2" || unit == "\u00B3";
}

bool is_windows_name(std::string_view name) noexcept {
  if (name.find(':') != name.npos) return false;
  // Windows drops trailing dots and spaces: `a.php.` would be `a.php`.
  return name.back() != '.' && name.back() != ' ' && !is_device_name(name);
}

Error not_found(const char* context) noexcept { return {Errc::NotFound, context}; }

// Maps errors for refused or impossible paths to NotFound, so that a peer learns nothing else.
Error open_error(int code) noexcept {
  switch (code) {
    case ELOOP:  // a link that is not followed
    case EXDEV:  // RESOLVE_BENEATH: the path leaves the root
    case ENXIO:  // a socket, or a device without a driver
    case ENODEV:
    case ENAMETOOLONG: return {Errc::NotFound, "open", code};
    default: return Error::from_system(code, "open");
  }
}

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
  std::array<char, max_path_bytes + 1> buffer;
  const ssize_t size = readlink(link.c_str(), buffer.data(), buffer.size());
  if (size < 0 || static_cast<std::size_t>(size) == buffer.size()) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

// Resolves links to a canonical path below the directory; returns nullopt if the target is outside.
// O_PATH only locates the file, without opening it.
std::optional<std::string> follow_links(int directory, const char* path) {
  const Descriptor target(open_resolved(directory, path, O_PATH | O_CLOEXEC, 0));
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

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

bool is_safe_name(std::string_view name, NameRules rules) noexcept {
  if (name.empty() || name.size() > max_name_bytes || name == "." || name == "..") return false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\') return false;
  }
  return rules == NameRules::Posix || is_windows_name(name);
}

bool is_safe_path(std::string_view path, const PathPolicy& policy) noexcept {
  if (path.empty() || path.front() != '/' || path.size() > max_path_bytes) return false;
  bool first = true;
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t slash = path.find('/', begin);
    const std::string_view name = path.substr(begin, slash - begin);
    if (!is_safe_name(name, policy.names)) return false;
    // RFC 8615: /.well-known/ is meant to be public
    const bool is_public =
        name.front() != '.' || policy.dotfiles || (first && name == ".well-known");
    if (!is_public) return false;
    first = false;
    if (slash == std::string_view::npos) break;
    begin = slash + 1;
  }
  return true;
}

Result<FileStat> convert(const struct stat& state) noexcept {
  FileStat result;
  if (S_ISDIR(state.st_mode)) {
    result.kind = FileKind::Directory;
  } else if (!S_ISREG(state.st_mode)) {
    return not_found("not a regular file");
  }
  result.size_bytes = static_cast<std::uint64_t>(state.st_size);
  result.modified_ns = base::modified_ns(state);
  result.changed_ns = base::changed_ns(state);
  result.inode = static_cast<std::uint64_t>(state.st_ino);
  result.device = static_cast<std::uint64_t>(state.st_dev);
  return result;
}

Result<FileStat> stat_of(int descriptor) noexcept {
  struct stat state{};
  if (fstat(descriptor, &state) != 0) return Error::from_system(errno, "fstat");
  return convert(state);
}

Result<Root> Root::open(const std::string& directory, PathPolicy policy, Resolver resolver) {
  Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Error::from_system(errno, "open directory");
  if (resolver != Resolver::Components) {
    // A sandbox may refuse openat2 with EPERM, an old kernel with ENOSYS.
    const Descriptor probe(open_beneath(folder.number(), "."));
    if (!probe && resolver == Resolver::Kernel) return Error(Errc::Unsupported, "openat2", errno);
    resolver = probe ? Resolver::Kernel : Resolver::Components;
  }
  return Root(std::move(folder), policy, resolver);
}

int Root::open_file(std::string_view path) const {
  const std::string relative(path == "/" ? "." : path.substr(1));
  const int directory = directory_.number();
  if (resolver_ == Resolver::Components) return open_by_components(directory, relative);
  const int number = open_beneath(directory, relative.c_str());
  if (number >= 0 || errno != ELOOP || !policy_.follow_symlinks) return number;
  // The target of a link is served if its own path could be requested.
  const std::optional<std::string> target = follow_links(directory, relative.c_str());
  if (!target || !is_safe_path(*target, policy_)) {
    errno = ENOENT;
    return -1;
  }
  return open_beneath(directory, *target == "/" ? "." : target->c_str() + 1);
}

Result<OpenFile> Root::find(std::string_view path) const {
  if (!is_safe_path(path, policy_)) return not_found("refused path");
  Descriptor file(open_file(path));
  if (!file) return open_error(errno);
  const Result<FileStat> stat = stat_of(file.number());
  if (!stat) return stat.error();
  // `/a.txt/` is not `/a.txt`, however the system treats the trailing slash.
  if (path.back() == '/' && stat->kind != FileKind::Directory) return not_found("not a directory");
  return OpenFile{std::move(file), *stat};
}

}  // namespace skua::files
