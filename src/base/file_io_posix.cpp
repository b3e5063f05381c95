// SPDX-License-Identifier: MIT
#include "base/file_io.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <limits>
#include <memory>

namespace skua::base {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

std::size_t open_files_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t disk_files_limit() noexcept { return open_files_limit(); }

void raise_open_files_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
#if defined(__APPLE__)
  // A larger number is refused, though the hard limit may be infinite: setrlimit(2), COMPATIBILITY.
  const rlim_t most = std::min<rlim_t>(limit.rlim_max, OPEN_MAX);
  limit.rlim_cur = std::max(limit.rlim_cur, most);
#else
  limit.rlim_cur = limit.rlim_max;
#endif
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));  // best effort
}

std::size_t open_files_count() noexcept {
  // Not opendir: ThreadSanitizer would not see that the descriptor is a new one, and would take its
  // end for a race with the thread that had an equal one before.
  const int descriptor = ::open("/dev/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(descriptor));
  if (folder == nullptr) {
    ::close(descriptor);
    return 0;
  }
  std::size_t count = 0;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count == 0 ? 0 : count - 1;  // without the folder itself
}

Result<std::size_t> read_at(int file, std::uint64_t offset, std::span<char> into) noexcept {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count =
        ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_system(errno, "pread");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Result<std::size_t> read_resident([[maybe_unused]] int file, [[maybe_unused]] std::uint64_t offset,
                                  [[maybe_unused]] std::span<char> into) noexcept {
#if defined(__linux__) && defined(RWF_NOWAIT)
  std::size_t done = 0;
  while (done < into.size()) {
    const iovec rest{into.data() + done, into.size() - done};
    const ssize_t count = ::preadv2(file, &rest, 1, static_cast<off_t>(offset + done), RWF_NOWAIT);
    if (count == 0) break;
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      return Error(Errc::WouldBlock, "preadv2");
    } else if (errno != EINTR) {
      // Among others EOPNOTSUPP of the file system, and EPERM of a filter of system calls.
      return Error(Errc::Unsupported, "preadv2", errno);
    }
  }
  return done;
#else
  return Error(Errc::Unsupported, "preadv2");
#endif
}

void start_reading([[maybe_unused]] int file, [[maybe_unused]] std::uint64_t offset,
                   [[maybe_unused]] std::uint64_t size_bytes) noexcept {
#if defined(POSIX_FADV_WILLNEED)
  static_cast<void>(::posix_fadvise(file, static_cast<off_t>(offset),
                                    static_cast<off_t>(size_bytes), POSIX_FADV_WILLNEED));
#endif
}

int duplicate_file(int file) noexcept { return ::fcntl(file, F_DUPFD_CLOEXEC, 0); }

}  // namespace skua::base
