// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/access/tree_access.hpp"
#include "files/archive/entry_name.hpp"
#include "files/safe_path.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// How much a walk may find. Beyond that it ends with BodyTooLong.
struct WalkLimits {
  std::size_t entries = 1'000'000;
  std::size_t depth = 128;              ///< of folders in folders
  std::size_t held_bytes = 64U << 20U;  ///< of names in memory: those of a folder are read at once
};

/// A file or folder that a walk finds.
struct WalkItem {
  std::string name{};  ///< in an archive: a relative path; that of a folder ends in a slash
  OpenFile file{};     ///< open for reading
};

/// Finds the files and folders below a folder, in the order of their names, each folder before its
/// content. It finds what a client of the site could request, and nothing else. Links are followed
/// as far as the root permits, but never to a folder that contains them. What vanishes meanwhile,
/// or may not be read, is left out. Its calls block.
class FolderWalk final {
 public:
  /// `path` is the folder's canonical path with a trailing slash; `name` is that of the folder in
  /// the archive, without one.
  FolderWalk(std::shared_ptr<const Root> root, std::string path, std::string name,
             WalkLimits limits = {}, TreeAccess access = {})
      : root_(std::move(root)),
        access_(std::move(access)),
        limits_(limits),
        path_(std::move(path)),
        name_(std::move(name)) {}

  /// Takes one step, which mostly finds an item; the first is the folder itself.
  ///
  /// Ends with: BodyTooLong; the errors of Root::find, but for NotFound and PermissionDenied; those
  ///            of DirectoryReader::read.
  Result<std::optional<WalkItem>> step();
  [[nodiscard]] bool is_done() const noexcept { return has_begun_ && levels_.empty(); }

 private:
  // A folder whose files are not all found.
  struct Level {
    std::size_t path_bytes = 0;  // of path_, for this folder
    std::size_t name_bytes = 0;  // of name_
    std::vector<NamedFile> files{};
    std::size_t next = 0;
    std::size_t held_bytes = 0;
    std::uint64_t inode = 0;
    std::uint64_t device = 0;
  };

  Result<std::optional<WalkItem>> visit();
  Result<bool> enter(const FileStat& stat);
  [[nodiscard]] bool contains_itself(const FileStat& stat) const noexcept;

  std::shared_ptr<const Root> root_;
  TreeAccess access_;
  WalkLimits limits_;
  std::string path_;  // of the current folder, or what is visited in it
  std::string name_;
  std::vector<Level> levels_{};
  std::size_t entry_count_ = 0;
  std::size_t held_bytes_ = 0;
  bool has_begun_ = false;
};

}  // namespace skua::files
