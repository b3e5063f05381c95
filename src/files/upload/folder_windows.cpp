// SPDX-License-Identifier: MIT
// Windows has no calls relative to a folder, so the path of the open folder is asked for each time.
// The prefix `\\?\` of that path makes Windows take the name literally.
#include "files/upload/folder.hpp"

#include <windows.h>

#include <cerrno>
#include <new>

#include "base/disk_windows.hpp"
#include "base/system_text.hpp"
#include "base/wide_text.hpp"

namespace skua::files {
namespace {

std::wstring path_of(const disk::Descriptor& folder, const std::string& name) {
  return disk::final_path(folder.number()) + L'\\' + base::widen(name);
}

// Calls `function`, which returns -1 and sets errno, as it is for a failed allocation.
template <class F>
int guarded(const F& function) noexcept try {
  return function();
} catch (const std::bad_alloc&) {
  errno = ENOMEM;
  return -1;
}

int move(const disk::Descriptor& folder, const std::string& from, const std::string& to,
         DWORD flags) noexcept {
  return guarded([&] {
    const BOOL is_done =
        ::MoveFileExW(path_of(folder, from).c_str(), path_of(folder, to).c_str(), flags);
    return is_done != 0 ? 0 : base::fail_as_posix();
  });
}

}  // namespace

Result<disk::FileStat> Folder::stat(const std::string& name) const {
  return disk::stat_of_link(base::narrow(path_of(folder_, name)));
}

int Folder::create(const std::string& name) const noexcept {
  return guarded([&] {
    return disk::open_wide(path_of(folder_, name),
                           O_WRONLY | O_CREAT | O_EXCL | disk::close_on_exec);
  });
}

int Folder::open(const std::string& name, int flags) const noexcept {
  return guarded(
      [&] { return disk::open_wide(path_of(folder_, name), flags | disk::close_on_exec); });
}

int Folder::rename(const std::string& from, const std::string& to) const noexcept {
  return move(folder_, from, to, MOVEFILE_REPLACE_EXISTING);
}

int Folder::rename_beside(const std::string& from, const std::string& to) const noexcept {
  return move(folder_, from, to, 0);
}

int Folder::remove(const std::string& name) const noexcept {
  return guarded([&] {
    return ::DeleteFileW(path_of(folder_, name).c_str()) != 0 ? 0 : base::fail_as_posix();
  });
}

void Folder::sync() const noexcept {}  // Windows has no such call; NTFS journals names

}  // namespace skua::files
