// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "base/disk.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// An open folder whose files are made, renamed and removed by name. No call follows a link, and
/// none can leave the folder, whatever happens to its path meanwhile.
///
/// Names must be safe: see is_safe_name(). Calls that return an int return -1 and set errno.
class Folder {
 public:
  Folder() noexcept = default;
  explicit Folder(disk::Descriptor folder) noexcept : folder_(std::move(folder)) {}

  /// Returns the state of what has this name, which may be a link.
  [[nodiscard]] Result<disk::FileStat> stat(const std::string& name) const;
  /// Creates a file, and opens it to write. Returns its descriptor; EEXIST if the name is taken.
  [[nodiscard]] int create(const std::string& name) const noexcept;
  /// Opens a file of our own, without following a link.
  [[nodiscard]] int open(const std::string& name, int flags) const noexcept;
  /// Opens a file of our own to lock it: to write if that is possible, as disk::lock() may need it.
  [[nodiscard]] int open_to_lock(const std::string& name) const noexcept {
    const int file = open(name, disk::for_appending);
    return file >= 0 ? file : open(name, disk::for_reading);
  }
  /// Renames a file, and replaces any file with that name.
  [[nodiscard]] int rename(const std::string& from, const std::string& to) const noexcept;
  /// Renames a file; EEXIST if the name is taken. The caller holds UploadSite::naming(); see
  /// disk::rename_beside().
  [[nodiscard]] int rename_beside(const std::string& from, const std::string& to) const noexcept;
  int remove(const std::string& name) const noexcept;
  /// Waits until the names are on the disk.
  void sync() const noexcept;

 private:
  disk::Descriptor folder_;
};

}  // namespace skua::files
