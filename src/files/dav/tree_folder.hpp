// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// An open folder whose files and folders are made, moved and removed by name. No call follows a
/// link, and none but is_within() can leave the folder, whatever happens to its path meanwhile.
///
/// Names must be safe: see is_safe_name(). All calls block.
class TreeFolder final {
 public:
  TreeFolder() noexcept = default;
  explicit TreeFolder(disk::Descriptor folder) noexcept : folder_(std::move(folder)) {}

  [[nodiscard]] int number() const noexcept { return folder_.number(); }

  /// Returns the state of what has this name, which may be a link.
  [[nodiscard]] Result<disk::FileStat> stat(const std::string& name) const;
  [[nodiscard]] Result<TreeFolder> open_folder(const std::string& name) const;
  /// Opens a file or a folder to read. Never waits for the other end of a pipe.
  [[nodiscard]] Result<disk::Descriptor> open_file(const std::string& name) const;
  /// Creates a file, and opens it to write. Ends with: the system's EEXIST.
  [[nodiscard]] Result<disk::Descriptor> create_file(const std::string& name) const;
  /// Ends with: the system's EEXIST.
  [[nodiscard]] Result<void> make_folder(const std::string& name) const;
  [[nodiscard]] Result<void> remove_file(const std::string& name) const;
  [[nodiscard]] Result<void> remove_folder(const std::string& name) const;
  /// Moves a file or folder. Replaces a file, or an empty folder by a folder.
  [[nodiscard]] Result<void> move(const std::string& name, const TreeFolder& to,
                                  const std::string& to_name) const;
  /// Moves a file or folder. Ends with: the system's EEXIST if the name is taken.
  [[nodiscard]] Result<void> move_beside(const std::string& name, const TreeFolder& to,
                                         const std::string& to_name) const;
  /// Reports whether this folder is the other one, or inside of it; `root` is where to stop.
  [[nodiscard]] Result<bool> is_within(const disk::FileStat& other,
                                       const disk::FileStat& root) const;
  /// Waits until the names are on the disk.
  void sync() const noexcept;

 private:
  disk::Descriptor folder_;
};

/// Reports whether this system has them.
bool has_tree_folders() noexcept;

/// Reports whether two states are those of the same file.
inline bool is_same_file(const disk::FileStat& a, const disk::FileStat& b) noexcept {
  return a.inode == b.inode && a.device == b.device;
}

/// Reads the names in a folder, in the order in which the system has them. It may be moved to
/// another thread between calls.
class NameReader final {
 public:
  static Result<NameReader> open(const TreeFolder& folder);

  /// Appends up to `count` names. Returns whether there may be more.
  Result<bool> read(std::vector<std::string>& names, std::size_t count);

 private:
  struct Close {
    void operator()(void* stream) const noexcept;
  };
  using Stream = std::unique_ptr<void, Close>;

  explicit NameReader(Stream stream) noexcept : stream_(std::move(stream)) {}

  Stream stream_;
};

}  // namespace skua::files
