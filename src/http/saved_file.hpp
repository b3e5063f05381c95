// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "skua/error.hpp"

namespace skua::http {

/// A file that has its name once it is whole. Until then, and for good if it never is, it does not
/// exist for others. Calls wait for the disk.
class SavedFile {
 public:
  explicit SavedFile(std::string path) noexcept : path_(std::move(path)) {}
  SavedFile(const SavedFile&) = delete;
  SavedFile& operator=(const SavedFile&) = delete;
  /// Removes what is not committed.
  ~SavedFile();

  /// Appends; the first call makes the file.
  Result<void> write(std::string_view text);
  /// Gives it its name, in place of whatever has it.
  Result<void> commit();

 private:
  Result<void> open();

  std::string path_;
  std::string temporary_;  // its name meanwhile; empty: there is no file
  int descriptor_ = -1;
};

}  // namespace skua::http
