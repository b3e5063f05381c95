// SPDX-License-Identifier: MIT
#include "base/residency.hpp"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>

namespace skua::base {

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
