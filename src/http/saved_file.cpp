// SPDX-License-Identifier: MIT
// A text in pieces in, a file out, which appears as a whole or not at all. It is written under a
// name that nobody foresees, in the folder where it is to be, so that renaming it copies nothing.
#include "http/saved_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>

namespace skua::http {
namespace {

constexpr mode_t readable_and_writable = 0666;  // but for the umask, as any new file

// `.skua-0123456789abcdef` beside the path: hidden, and as short as it was, however long the name.
std::string temporary_name(const std::string& path) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name = path.substr(0, path.find_last_of('/') + 1) + ".skua-";
  std::random_device source;
  for (int word = 0; word < 2; ++word) {
    std::uint32_t bits = source();
    for (int i = 0; i < 8; ++i, bits >>= 4U) name += digits[bits & 0xfU];
  }
  return name;
}

}  // namespace

SavedFile::~SavedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<void> SavedFile::open() {
  std::string name = temporary_name(path_);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  descriptor_ = ::open(name.c_str(), flags, readable_and_writable);
  if (descriptor_ < 0) return Error::from_system(errno, "create file");
  temporary_ = std::move(name);
  return {};
}

Result<void> SavedFile::write(std::string_view text) {
  if (descriptor_ < 0) {
    if (auto opened = open(); !opened) return opened;
  }
  while (!text.empty()) {
    const ssize_t size = ::write(descriptor_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Error::from_system(errno, "write file");
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<void> SavedFile::commit() {
  // A file system may tell only now that it had no room.
  if (::close(std::exchange(descriptor_, -1)) != 0) return Error::from_system(errno, "close file");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Error::from_system(errno, "rename file");
  }
  temporary_.clear();
  return {};
}

}  // namespace skua::http
