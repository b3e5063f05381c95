// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "files/cache/cached_files.hpp"
#include "files/file_head.hpp"
#include "files/open/held_file.hpp"
#include "files/safe_path.hpp"

namespace skua::files {

/// A file that stays open between requests: too large for the cache in memory, but small enough
/// that opening and closing it is a part of its cost.
struct KeptFile {
  std::string path{};
  FileHead head{};
  FileStat stat{};
  std::shared_ptr<const HeldFile> file{};
  loop::Instant found{};     ///< when its path last led to it
  loop::Instant compared{};  ///< when its state was last compared
  loop::Instant used{};
  FileStat plain{};  ///< only in siblings: the state of the file that it is a form of
};

/// Open files by their paths, for one thread. Least recently used ones are closed.
///
/// A file is found here without a system call. Two rules bound how old the answer may be: a path is
/// looked up again after FileCacheOptions::fresh, which notices a file that was replaced, removed
/// or made unreadable; and the state of the open file is compared after FileCacheOptions::settled,
/// which notices writes in place before their bytes get the ETag of others.
class KeptFiles {
 public:
  explicit KeptFiles(const FileCacheOptions& options) noexcept : options_(options) {}

  /// Returns a file whose path was looked up recently, unless its state has changed; otherwise
  /// null. `compare`: compares its state in any case. The pointer is valid until the next call.
  const KeptFile* find(std::string_view path, loop::Instant now, bool compare);

  /// Returns the file at this path, if it is in the state in which the path was just looked up;
  /// otherwise forgets it.
  const KeptFile* refresh(std::string_view path, const FileStat& stat, loop::Instant now);

  /// Takes a file that is not there; or leaves the descriptor and returns null if the file should
  /// not stay open.
  const KeptFile* insert(KeptFile file, Descriptor& descriptor, WallTime wall);

  void erase(std::string_view path) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return files_.size(); }

 private:
  KeptFile* use(std::string_view path, loop::Instant now) noexcept;

  FileCacheOptions options_;
  std::list<KeptFile> files_;  // most recently used first
  // By the file's own path.
  std::unordered_map<std::string_view, std::list<KeptFile>::iterator> index_;
};

}  // namespace skua::files
