// SPDX-License-Identifier: MIT
// In: text. Out: a file that exists either completely or not at all.
#include "files/partial_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace skua::files {
namespace {

constexpr int tries = 16;
constexpr std::string_view digits = "0123456789abcdef";

Result<std::string> random_name(const std::string& path) {
  std::array<unsigned char, 8> random;
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return Error::from_system(errno, "getrandom");
  }
  std::string name = path + ".part-";
  for (const unsigned char byte : random) {
    name.push_back(digits[byte >> 4]);
    name.push_back(digits[byte & 15]);
  }
  return name;
}

}  // namespace

PartialFile::~PartialFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<void> PartialFile::create(const std::string& path, ::mode_t mode) {
  for (int i = 0; i < tries; ++i) {
    Result<std::string> name = random_name(path);
    if (!name) return name.error();
    descriptor_ = ::open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0) {
      name_ = *std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return Error::from_system(errno, "open");
}

Result<void> PartialFile::write(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_system(errno, "write");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> PartialFile::keep_as(const std::string& path) noexcept {
  // Closes first: some file systems report only now that they are full.
  if (::close(std::exchange(descriptor_, -1)) != 0) return Error::from_system(errno, "close");
  if (::rename(name_.c_str(), path.c_str()) != 0) return Error::from_system(errno, "rename");
  name_.clear();
  return {};
}

}  // namespace skua::files
