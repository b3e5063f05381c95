// SPDX-License-Identifier: MIT
// In: a path whose names were checked. Out: its file, if it really has that path.
// Windows knows many names for a file: links, junctions, `PROGRA~1`, other letter cases. So the
// file is opened first, and served if the path that Windows then reports for it is the requested
// one: checks of the application that match a path cannot be evaded by another spelling.
#include <algorithm>
#include <cerrno>

#include "base/disk_windows.hpp"
#include "base/wide_text.hpp"
#include "files/safe_path.hpp"

namespace skua::files {

Result<Root> Root::open(const std::string& directory, PathPolicy policy, Resolver resolver) {
  if (resolver == Resolver::Kernel) return Error(Errc::Unsupported, "openat2");
  Descriptor folder(disk::open(directory.c_str(), disk::for_reading));
  if (!folder) return Error::from_system(errno, "open directory");
  const Result<FileStat> stat = stat_of(folder.number());
  if (!stat) return stat.error();
  if (stat->kind != FileKind::Directory) return Error(Errc::NotFound, "open directory", ENOTDIR);
  return Root(std::move(folder), policy, Resolver::Components, {});
}

Root::Named Root::follow_name() const { return Named::Same; }

int Root::open_file(std::string_view path) const {
  const std::wstring wide = base::widen(path);
  if (base::narrow(wide) != path) {  // it is not UTF-8, so it names no file
    errno = ENOENT;
    return -1;
  }
  std::wstring wanted = disk::final_path(directory_.number());
  if (wanted.ends_with(L'\\')) wanted.pop_back();  // the root of a drive
  // The prefix `\\?\` of that path makes Windows take the rest literally.
  wanted += wide;
  std::replace(wanted.begin(), wanted.end(), L'/', L'\\');
  if (path != "/" && wanted.ends_with(L'\\')) wanted.pop_back();
  Descriptor file(disk::open_wide(wanted, disk::for_reading));
  if (!file) return -1;
  if (path != "/" && disk::final_path(file.number()) != wanted) {
    errno = ENOENT;
    return -1;
  }
  return file.release();
}

}  // namespace skua::files
