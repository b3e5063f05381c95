// SPDX-License-Identifier: MIT
#include "base/open_files.hpp"

#include <sys/resource.h>

#include <dirent.h>

#include <limits>
#include <memory>

namespace skua::base {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

std::size_t open_files_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::size_t>::max();
  }
  return static_cast<std::size_t>(limit.rlim_cur);
}

void raise_open_files_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));  // best effort
}

std::size_t open_files_count() noexcept {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/dev/fd"));
  if (folder == nullptr) return 0;
  std::size_t count = 0;
  while (const dirent* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count == 0 ? 0 : count - 1;  // without the folder itself
}

}  // namespace skua::base
