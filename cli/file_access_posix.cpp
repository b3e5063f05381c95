// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include "file_access.hpp"

namespace skua::cli {

bool is_readable_by_others(const std::string& path) noexcept {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         (about.st_mode & (S_IRGRP | S_IROTH)) != 0;
}

}  // namespace skua::cli
