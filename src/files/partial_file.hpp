// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::files {

/// A file that is written under a temporary name until it is complete. Its calls block, so use it
/// off the loop.
///
/// Lifetime:  if destroyed before keep_as() succeeds, it removes the file.
class PartialFile {
 public:
  PartialFile() = default;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  /// Creates the file in the folder of `path`, with mode `mode & ~umask`.
  Result<void> create(const std::string& path, ::mode_t mode = 0666);
  Result<void> write(std::string_view text) noexcept;
  /// Renames the file to `path`, replacing any existing file.
  Result<void> keep_as(const std::string& path) noexcept;

 private:
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace skua::files
