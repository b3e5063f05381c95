// SPDX-License-Identifier: MIT
#include "base/read_at.hpp"

#include <unistd.h>

#include <cerrno>

namespace skua::base {

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

}  // namespace skua::base
