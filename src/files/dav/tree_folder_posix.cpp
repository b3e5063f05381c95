// SPDX-License-Identifier: MIT
#include "files/dav/tree_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace skua::files {
namespace {

#if defined(O_PATH)
constexpr int open_to_ask = O_PATH | O_DIRECTORY | O_CLOEXEC;
#else
constexpr int open_to_ask = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif

Result<void> done_if(bool is_done, const char* what) noexcept {
  if (is_done) return {};
  return Error::from_system(errno, what);
}

Result<disk::Descriptor> opened(int number, const char* what) noexcept {
  if (number < 0) return Error::from_system(errno, what);
  return disk::Descriptor(number);
}

}  // namespace

bool has_tree_folders() noexcept { return true; }

Result<disk::FileStat> TreeFolder::stat(const std::string& name) const {
  struct stat state{};
  if (::fstatat(number(), name.c_str(), &state, AT_SYMLINK_NOFOLLOW) != 0) {
    return Error::from_system(errno, "fstatat");
  }
  return disk::converted(state);
}

Result<TreeFolder> TreeFolder::open_folder(const std::string& name) const {
  auto folder =
      opened(::openat(number(), name.c_str(), disk::for_reading_own | O_DIRECTORY), "open");
  if (!folder) return folder.error();
  return TreeFolder(*std::move(folder));
}

Result<disk::Descriptor> TreeFolder::open_file(const std::string& name) const {
  return opened(::openat(number(), name.c_str(), disk::for_reading_own), "open");
}

Result<disk::Descriptor> TreeFolder::create_file(const std::string& name) const {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | disk::close_on_exec;
  return opened(::openat(number(), name.c_str(), flags, 0666), "create");
}

Result<void> TreeFolder::make_folder(const std::string& name) const {
  return done_if(::mkdirat(number(), name.c_str(), 0777) == 0, "mkdir");
}

Result<void> TreeFolder::remove_file(const std::string& name) const {
  return done_if(::unlinkat(number(), name.c_str(), 0) == 0, "unlink");
}

Result<void> TreeFolder::remove_folder(const std::string& name) const {
  return done_if(::unlinkat(number(), name.c_str(), AT_REMOVEDIR) == 0, "rmdir");
}

Result<void> TreeFolder::move(const std::string& name, const TreeFolder& to,
                              const std::string& to_name) const {
  return done_if(::renameat(number(), name.c_str(), to.number(), to_name.c_str()) == 0, "rename");
}

Result<void> TreeFolder::move_beside(const std::string& name, const TreeFolder& to,
                                     const std::string& to_name) const {
  return done_if(disk::rename_beside(number(), name, to.number(), to_name) == 0, "rename");
}

Result<bool> TreeFolder::is_within(const disk::FileStat& other, const disk::FileStat& root) const {
  disk::Descriptor parent;
  for (int depth = 0; depth < 4096; ++depth) {
    const int here = parent ? parent.number() : number();
    const Result<disk::FileStat> state = disk::stat_of(here);
    if (!state) return state.error();
    if (is_same_file(*state, other)) return true;
    if (is_same_file(*state, root)) return false;
    auto above = opened(::openat(here, "..", open_to_ask), "open");
    if (!above) return above.error();
    parent = *std::move(above);
  }
  return Error(Errc::NotFound, "open");
}

void TreeFolder::sync() const noexcept {
  // Best effort: some file systems cannot sync a folder.
  static_cast<void>(disk::sync(number()));
}

void NameReader::Close::operator()(void* stream) const noexcept {
  ::closedir(static_cast<DIR*>(stream));
}

Result<NameReader> NameReader::open(const TreeFolder& folder) {
  auto own = opened(::openat(folder.number(), ".", disk::for_reading | O_DIRECTORY), "open");
  if (!own) return own.error();
  Stream stream(::fdopendir(own->number()));
  if (!stream) return Error::from_system(errno, "fdopendir");
  static_cast<void>(own->release());
  return NameReader(std::move(stream));
}

Result<bool> NameReader::read(std::vector<std::string>& names, std::size_t count) {
  auto* const stream = static_cast<DIR*>(stream_.get());
  for (std::size_t i = 0; i < count;) {
    errno = 0;  // which alone tells an error from the end
    const dirent* const item = ::readdir(stream);
    if (item == nullptr && errno != 0) return Error::from_system(errno, "readdir");
    if (item == nullptr) return false;
    const std::string_view name = item->d_name;
    if (name == "." || name == "..") continue;
    names.emplace_back(name);
    ++i;
  }
  return true;
}

}  // namespace skua::files
