// SPDX-License-Identifier: MIT
// Sockets are handles, of which a process may have 16 million. Files have a place in the C
// library's table, too.
#include "base/file_io.hpp"

#include <io.h>
#include <windows.h>

#include <algorithm>
#include <climits>

#include "base/system_text.hpp"

namespace skua::base {

std::size_t open_files_limit() noexcept { return std::size_t{1} << 24; }

std::size_t disk_files_limit() noexcept { return 2048; }

void raise_open_files_limit() noexcept {}

std::size_t open_files_count() noexcept { return 0; }

Result<std::size_t> read_at(int file, std::uint64_t offset, std::span<char> into) noexcept {
  const HANDLE handle = reinterpret_cast<HANDLE>(::_get_osfhandle(file));
  std::size_t done = 0;
  while (done < into.size()) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset + done);
    place.OffsetHigh = static_cast<DWORD>((offset + done) >> 32);
    const auto room = static_cast<DWORD>(std::min<std::size_t>(into.size() - done, INT_MAX));
    DWORD count = 0;
    if (::ReadFile(handle, into.data() + done, room, &count, &place) == 0) {
      if (::GetLastError() == ERROR_HANDLE_EOF) break;
      return Error::from_system(errno_of(::GetLastError()), "ReadFile");
    }
    if (count == 0) break;
    done += count;
  }
  return done;
}

// Windows does not say which parts of a file are in memory.
Result<std::size_t> read_resident(int, std::uint64_t, std::span<char>) noexcept {
  return Error(Errc::Unsupported, "read_resident");
}

void start_reading(int, std::uint64_t, std::uint64_t) noexcept {}

int duplicate_file(int) noexcept { return -1; }

}  // namespace skua::base
