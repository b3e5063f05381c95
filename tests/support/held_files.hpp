// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <string>
#include <vector>

#include "files/file_body.hpp"

namespace skua::support {

/// Lowers the soft limit on open files while it lives.
class OpenFilesLimit {
 public:
  explicit OpenFilesLimit(std::size_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = limit;
    ::setrlimit(RLIMIT_NOFILE, &lowered);
  }
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;
  ~OpenFilesLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// As many responses as may hold a file open under a limit of 256 open files.
class HeldFiles {
 public:
  explicit HeldFiles(const std::string& path) {
    for (std::size_t i = 0; i < files::held_files_at_most(limit); ++i) {
      const files::FilePlace place{.path = path};
      Result<files::OpenFile> file = place.open();
      if (!file) break;
      bodies_.push_back(files::file_body(*std::move(file), place, {0, 1}));
    }
  }

  /// Releases one response.
  void release_one() { bodies_.pop_back(); }

 private:
  static constexpr std::size_t limit = 256;
  OpenFilesLimit limited_{limit};
  std::vector<Body> bodies_;
};

}  // namespace skua::support
