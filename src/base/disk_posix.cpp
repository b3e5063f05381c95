// SPDX-License-Identifier: MIT
#include "base/disk.hpp"

#include <sys/file.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <cstdio>

namespace skua::disk {
namespace {

std::int64_t nanoseconds(const timespec& time) noexcept {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileKind kind_of(::mode_t mode) noexcept {
  if (S_ISREG(mode)) return FileKind::Regular;
  if (S_ISDIR(mode)) return FileKind::Directory;
  return S_ISLNK(mode) ? FileKind::Link : FileKind::Other;
}

// Another process that takes the name between the calls loses what it put there.
int check_and_rename(int folder, const std::string& from, int to_folder,
                     const std::string& to) noexcept {
  struct stat state{};
  if (::fstatat(to_folder, to.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return -1;
  }
  if (errno != ENOENT) return -1;
  return ::renameat(folder, from.c_str(), to_folder, to.c_str());
}

}  // namespace

int open_stream(const char* path) noexcept {
  const int file = ::open(path, for_reading);
  if (file >= 0) ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

FileStat converted(const struct stat& state) noexcept {
  FileStat result;
  result.kind = kind_of(state.st_mode);
  result.size_bytes = static_cast<std::uint64_t>(state.st_size);
#if defined(__APPLE__)
  result.modified_ns = nanoseconds(state.st_mtimespec);
  result.changed_ns = nanoseconds(state.st_ctimespec);
#else
  result.modified_ns = nanoseconds(state.st_mtim);
  result.changed_ns = nanoseconds(state.st_ctim);
#endif
  result.inode = static_cast<std::uint64_t>(state.st_ino);
  result.device = static_cast<std::uint64_t>(state.st_dev);
  return result;
}

Result<FileStat> stat_of(int file) noexcept {
  struct stat state{};
  if (::fstat(file, &state) != 0) return Error::from_system(errno, "fstat");
  return converted(state);
}

Result<FileStat> stat_of(const std::string& path) {
  struct stat state{};
  if (::stat(path.c_str(), &state) != 0) return Error::from_system(errno, "stat");
  return converted(state);
}

Result<FileStat> stat_of_link(const std::string& path) {
  struct stat state{};
  if (::lstat(path.c_str(), &state) != 0) return Error::from_system(errno, "lstat");
  return converted(state);
}

bool lock(int file) noexcept {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  return errno != EWOULDBLOCK && errno != EBADF;  // flock(2): NFS locks only what may be written
}

void set_modified(int file, std::chrono::sys_seconds time) noexcept {
  const timespec times[2] = {{0, UTIME_OMIT}, {time.time_since_epoch().count(), 0}};
  static_cast<void>(::futimens(file, times));
}

// Some file systems report a lack of space only on close. Closing a copy keeps the lock.
int finish_writes(int file) noexcept {
  const int copy = ::dup(file);
  return copy >= 0 ? ::close(copy) : 0;
}

int sync(int file) noexcept { return ::fsync(file); }

int rename_beside(const std::string& from, const std::string& to) noexcept {
  return rename_beside(AT_FDCWD, from, to);
}

int rename_beside(int folder, const std::string& from, const std::string& to) noexcept {
  return rename_beside(folder, from, folder, to);
}

int rename_beside(int folder, const std::string& from, int to_folder,
                  const std::string& to) noexcept {
#if defined(__linux__)
  // RENAME_NOREPLACE: musl has neither the name nor a function for the system call.
  constexpr unsigned keeps_existing = 1;
  const long renamed =
      ::syscall(SYS_renameat2, folder, from.c_str(), to_folder, to.c_str(), keeps_existing);
  if (renamed == 0) return 0;
  const bool is_unknown = errno == EINVAL || errno == ENOSYS;  // to the file system or the kernel
#elif defined(__APPLE__)
  if (::renameatx_np(folder, from.c_str(), to_folder, to.c_str(), RENAME_EXCL) == 0) return 0;
  const bool is_unknown = errno == ENOTSUP;  // to the file system
#else
  const bool is_unknown = true;
#endif
  if (!is_unknown) return -1;
  if (::linkat(folder, from.c_str(), to_folder, to.c_str(), 0) == 0) {
    ::unlinkat(folder, from.c_str(), 0);
    return 0;
  }
  // Links to folders do not exist (EPERM), nor does any link on FAT, vboxsf and some of FUSE.
  const bool is_linkless = errno == EPERM || errno == ENOSYS || errno == ENOTSUP;
  return is_linkless ? check_and_rename(folder, from, to_folder, to) : -1;
}

}  // namespace skua::disk
