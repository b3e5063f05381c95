// SPDX-License-Identifier: MIT
// For Linux.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/disk.hpp"
#include "base/file_io.hpp"

namespace skua::support {

/// Leaves the bytes of a file to the disk, and reports whether that can be seen. The last bytes are
/// in memory again soon, because asking for them made the system read them.
inline bool make_cold(const std::string& path) {
  const disk::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t end = ::lseek(file.number(), 0, SEEK_END);
  if (end <= 0 || ::fsync(file.number()) != 0) return false;
  // A page that another thread of the kernel holds for a moment stays.
  for (int tries = 0; tries < 100; ++tries) {
#if defined(POSIX_FADV_DONTNEED)
    if (::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
#endif
    char last = 0;
    const auto count =
        base::read_resident(file.number(), static_cast<std::uint64_t>(end) - 1, {&last, 1});
    if (!count) return count.error().code() == Errc::WouldBlock;
  }
  return false;
}

}  // namespace skua::support
