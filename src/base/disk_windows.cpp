// SPDX-License-Identifier: MIT
// In: UTF-8 paths. Out: descriptors of the C library over handles of our own, because only
// CreateFileW can share a file with those who rename or remove it.
#include "base/disk.hpp"

#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/disk_windows.hpp"
#include "base/system_text.hpp"
#include "base/wide_text.hpp"

namespace skua::disk {
namespace {

constexpr DWORD share_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr unsigned max_bytes = INT_MAX;
// FILETIME counts 100 ns since 1601.
constexpr std::int64_t ticks_per_second = 10'000'000;
constexpr std::int64_t seconds_1601_to_1970 = 11'644'473'600;

HANDLE handle_of(int file) noexcept { return reinterpret_cast<HANDLE>(::_get_osfhandle(file)); }

std::int64_t nanoseconds(std::int64_t ticks) noexcept {
  return (ticks - seconds_1601_to_1970 * ticks_per_second) * 100;
}

int result_of(BOOL is_done) noexcept { return is_done != 0 ? 0 : base::fail_as_posix(); }

Error failure(const char* call) noexcept {
  return Error::from_system(base::errno_of(::GetLastError()), call);
}

Result<FileStat> stat_of_handle(HANDLE file) noexcept {
  FileStat result;
  if (::GetFileType(file) != FILE_TYPE_DISK) {
    result.kind = FileKind::Other;
    return result;
  }
  BY_HANDLE_FILE_INFORMATION state{};
  FILE_BASIC_INFO times{};
  if (::GetFileInformationByHandle(file, &state) == 0 ||
      ::GetFileInformationByHandleEx(file, FileBasicInfo, &times, sizeof times) == 0) {
    return failure("GetFileInformationByHandle");
  }
  if ((state.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) result.kind = FileKind::Directory;
  result.size_bytes = (std::uint64_t{state.nFileSizeHigh} << 32) | state.nFileSizeLow;
  result.modified_ns = nanoseconds(times.LastWriteTime.QuadPart);
  result.changed_ns = nanoseconds(times.ChangeTime.QuadPart);
  result.inode = (std::uint64_t{state.nFileIndexHigh} << 32) | state.nFileIndexLow;
  result.device = state.dwVolumeSerialNumber;
  return result;
}

DWORD access_of(int flags) noexcept {
  if ((flags & O_APPEND) != 0)
    return FILE_APPEND_DATA | FILE_WRITE_DATA | FILE_WRITE_ATTRIBUTES | FILE_READ_ATTRIBUTES |
           SYNCHRONIZE;
  return (flags & O_WRONLY) != 0 ? GENERIC_WRITE : GENERIC_READ;
}

DWORD disposition_of(int flags) noexcept {
  if ((flags & O_CREAT) == 0) return OPEN_EXISTING;
  return (flags & O_EXCL) != 0 ? CREATE_NEW : OPEN_ALWAYS;
}

}  // namespace

bool is_link(const WIN32_FIND_DATAW& entry) noexcept {
  return (entry.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         IsReparseTagNameSurrogate(entry.dwReserved0) != 0;
}

std::int64_t nanoseconds(const FILETIME& time) noexcept {
  return nanoseconds(
      static_cast<std::int64_t>((std::uint64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime));
}

std::wstring final_path(int file) {
  std::wstring path(MAX_PATH, L'\0');
  while (true) {
    const DWORD size = ::GetFinalPathNameByHandleW(
        handle_of(file), path.data(), static_cast<DWORD>(path.size()), FILE_NAME_NORMALIZED);
    const bool fits = size < path.size();
    path.resize(size);
    if (fits) return path;  // empty on failure
  }
}

int open_wide(const std::wstring& path, int flags) noexcept {
  const HANDLE file =
      ::CreateFileW(path.c_str(), access_of(flags), share_all, nullptr, disposition_of(flags),
                    FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return base::fail_as_posix();
  const int number = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(file), flags);
  if (number < 0) ::CloseHandle(file);
  return number;
}

// A file that only its owner may read inherits that from its folder: `mode` has no equivalent.
int open(const char* path, int flags, int /*mode*/) noexcept try {
  return open_wide(base::widen(path), flags);
} catch (const std::bad_alloc&) {
  errno = ENOMEM;
  return -1;
}

int open_stream(const char* path) noexcept { return open(path, for_reading); }

int close(int file) noexcept { return ::_close(file); }

std::ptrdiff_t read(int file, void* into, std::size_t size_bytes) noexcept {
  return ::_read(file, into, static_cast<unsigned>(std::min<std::size_t>(size_bytes, max_bytes)));
}

std::ptrdiff_t write(int file, const void* bytes, std::size_t size_bytes) noexcept {
  return ::_write(file, bytes, static_cast<unsigned>(std::min<std::size_t>(size_bytes, max_bytes)));
}

int rename(const char* from, const char* to) noexcept {
  return result_of(
      ::MoveFileExW(base::widen(from).c_str(), base::widen(to).c_str(), MOVEFILE_REPLACE_EXISTING));
}

int unlink(const char* path) noexcept {
  return result_of(::DeleteFileW(base::widen(path).c_str()));
}

int ftruncate(int file, std::int64_t size_bytes) noexcept {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = size_bytes;
  return result_of(
      ::SetFileInformationByHandle(handle_of(file), FileEndOfFileInfo, &end, sizeof end));
}

Result<FileStat> stat_of(int file) noexcept { return stat_of_handle(handle_of(file)); }

Result<FileStat> stat_of(const std::string& path) {
  const HANDLE file = ::CreateFileW(base::widen(path).c_str(), FILE_READ_ATTRIBUTES, share_all,
                                    nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return failure("CreateFile");
  const Result<FileStat> state = stat_of_handle(file);
  ::CloseHandle(file);
  return state;
}

Result<FileStat> stat_of_link(const std::string& path) {
  WIN32_FIND_DATAW entry;
  const HANDLE search = ::FindFirstFileW(base::widen(path).c_str(), &entry);
  if (search != INVALID_HANDLE_VALUE) ::FindClose(search);
  if (search == INVALID_HANDLE_VALUE || !is_link(entry)) return stat_of(path);
  FileStat result;
  result.kind = FileKind::Link;
  return result;
}

// The lock is on one byte far beyond any content, because Windows enforces locks.
bool lock(int file) noexcept {
  OVERLAPPED place{};
  place.OffsetHigh = LONG_MAX;
  return ::LockFileEx(handle_of(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                      &place) != 0 ||
         ::GetLastError() != ERROR_LOCK_VIOLATION;
}

void set_modified(int file, std::chrono::sys_seconds time) noexcept {
  FILE_BASIC_INFO times{};  // zero: unchanged
  times.LastWriteTime.QuadPart =
      (time.time_since_epoch().count() + seconds_1601_to_1970) * ticks_per_second;
  ::SetFileInformationByHandle(handle_of(file), FileBasicInfo, &times, sizeof times);
}

int finish_writes(int /*file*/) noexcept { return 0; }

int sync(int file) noexcept { return result_of(::FlushFileBuffers(handle_of(file))); }

int rename_beside(const std::string& from, const std::string& to) noexcept {
  return result_of(::MoveFileExW(base::widen(from).c_str(), base::widen(to).c_str(), 0));
}

}  // namespace skua::disk
