// SPDX-License-Identifier: MIT
#include "files/upload/folder.hpp"

#include <cerrno>
#include <cstdio>

namespace skua::files {

Result<disk::FileStat> Folder::stat(const std::string& name) const {
  struct stat state{};
  if (::fstatat(folder_.number(), name.c_str(), &state, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_system(errno, "fstatat");
  }
  return disk::converted(state);
}

int Folder::create(const std::string& name) const noexcept {
  return ::openat(folder_.number(), name.c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | disk::close_on_exec, 0666);
}

int Folder::open(const std::string& name, int flags) const noexcept {
  return ::openat(folder_.number(), name.c_str(), flags | O_NOFOLLOW | disk::close_on_exec);
}

int Folder::rename(const std::string& from, const std::string& to) const noexcept {
  return ::renameat(folder_.number(), from.c_str(), folder_.number(), to.c_str());
}

int Folder::rename_beside(const std::string& from, const std::string& to) const noexcept {
  return disk::rename_beside(folder_.number(), from, to);
}

int Folder::remove(const std::string& name) const noexcept {
  return ::unlinkat(folder_.number(), name.c_str(), 0);
}

void Folder::sync() const noexcept {
  // Best effort: some file systems cannot sync a folder, and the file is already there.
  static_cast<void>(disk::sync(folder_.number()));
}

}  // namespace skua::files
