// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::files {

/// A file that is being written, under a name of its own until it is whole. It blocks: to be used
/// off the loop.
///
/// Lifetime:  destroyed before keep_as() has succeeded, it removes the file.
class PartialFile {
 public:
  PartialFile() = default;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  /// Creates it in the folder of `path`, with these permissions less the process's umask.
  Result<void> create(const std::string& path, ::mode_t mode = 0666);
  Result<void> write(std::string_view text) noexcept;
  /// Gives it its name, in place of any file that has it.
  Result<void> keep_as(const std::string& path) noexcept;

 private:
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace skua::files
