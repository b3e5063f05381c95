// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "files/cache/cached_files.hpp"
#include "files/file_head.hpp"
#include "files/open/held_file.hpp"
#include "files/safe_path.hpp"
#include "skua/body.hpp"

namespace skua::files {

/// A file that stays open between requests: too large for the cache in memory, but small enough
/// that opening and closing it is a part of its cost.
struct KeptFile {
  std::string path{};
  FileHead head{};
  FileStat stat{};
  std::shared_ptr<const HeldFile> file{};
  loop::Instant found{};      ///< when its path last led to it
  std::uint64_t changes = 0;  ///< file_changes() before that
  loop::Instant compared{};   ///< when its state was last compared
  loop::Instant used{};
  FileStat plain{};              ///< only in siblings: the state of the file that it is a form of
  SharedText bytes{};            ///< its content, once many responses have copied it
  std::uint32_t copy_count = 0;  ///< responses that copied it from the file
};

/// Open files by their paths, for one thread. Least recently used ones are closed.
///
/// A file is found here without a system call. Two rules bound how old the answer may be: a path is
/// looked up again after FileCacheOptions::fresh, which notices a file that was replaced, removed
/// or made unreadable; and the state of the open file is compared after FileCacheOptions::settled,
/// which notices writes in place before their bytes get the ETag of others. Both hold for bytes in
/// memory as well: they belong to the state of the open file.
class KeptFiles {
 public:
  explicit KeptFiles(const FileCacheOptions& options) noexcept : options_(options) {}

  /// Returns a file whose path was looked up recently, unless its state has changed; otherwise
  /// null. Reads its bytes once it is copied often. The pointer is valid until the next call.
  const KeptFile* find(std::string_view path, loop::Instant now, FileUse use);

  /// Returns the file at this path, if it is in the state in which the path was just looked up;
  /// otherwise forgets it.
  /// `changes` are the file_changes() before that.
  const KeptFile* refresh(std::string_view path, const FileStat& stat, loop::Instant now,
                          std::uint64_t changes);

  /// Takes a file that is not there; or leaves the descriptor and returns null if the file should
  /// not stay open.
  const KeptFile* insert(KeptFile file, Descriptor& descriptor, WallTime wall);

  void erase(std::string_view path) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return files_.size(); }
  /// The size of the files that are in memory as well.
  [[nodiscard]] std::size_t loaded_bytes() const noexcept { return loaded_bytes_; }

 private:
  KeptFile* touch(std::string_view path, loop::Instant now) noexcept;
  void load(KeptFile& file);
  void make_room(std::size_t size_bytes) noexcept;
  void unload(KeptFile& file) noexcept;

  FileCacheOptions options_;
  std::list<KeptFile> files_;  // most recently used first
  // By the file's own path.
  std::unordered_map<std::string_view, std::list<KeptFile>::iterator> index_;
  std::size_t loaded_bytes_ = 0;
};

}  // namespace skua::files
