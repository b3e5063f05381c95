// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "files/file_body.hpp"
#include "support/descriptors.hpp"

namespace skua::support {

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
