// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "files/cache/cached_files.hpp"
#include "files/file_head.hpp"
#include "files/open/kept_files.hpp"
#include "files/safe_path.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// A file from the cache, in memory or open, or one that was just opened.
struct FoundFile {
  const CachedFile* cached = nullptr;  ///< valid until the next call of the cache, as is the next
  const KeptFile* kept = nullptr;
  bool is_copied = false;                  ///< `kept` is sent from memory, if its bytes are there
  OpenFile file{};                         ///< if both are null: an uncached file, or a directory
  std::optional<coding::Coding> coding{};  ///< of a sibling

  [[nodiscard]] const FileStat& stat() const noexcept SKUA_LIFETIMEBOUND {
    return cached != nullptr ? cached->stat : kept != nullptr ? kept->stat : file.stat;
  }
  /// Reports whether it is a regular file; everything else that can be found is a folder.
  [[nodiscard]] bool is_file() const noexcept {
    return cached != nullptr || stat().kind == FileKind::Regular;
  }
};

/// A cache of one folder's files, for one thread; it has no locks. Small files are in memory,
/// larger ones stay open (KeptFiles).
///
/// An entry is compared with the file system once it is older than `fresh`, so a response is never
/// staler than that. Every entry in memory is a consistent state of its file: no size or time
/// changed during the read. Nothing is memory-mapped, so a file that shrinks cannot raise a signal.
class FileCache {
 public:
  /// `root`, `times` and `fields` outlive the cache.
  FileCache(const Root& root SKUA_LIFETIMEBOUND, const TimeSource& times SKUA_LIFETIMEBOUND,
            const FileFields& fields SKUA_LIFETIMEBOUND, FileCacheOptions options = {})
      : root_(root),
        times_(times),
        fields_(fields),
        options_(options),
        files_(options.total_bytes),
        kept_(options) {}
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// Finds the file or directory at a canonical path.
  ///
  /// Ends with: the errors of Root::find.
  Result<FoundFile> find(std::string_view path, FileUse use = {});

  [[nodiscard]] std::size_t size_bytes() const noexcept { return files_.size_bytes(); }
  [[nodiscard]] std::size_t count() const noexcept { return files_.count(); }
  /// The number of files that stay open.
  [[nodiscard]] std::size_t kept_count() const noexcept { return kept_.count(); }
  /// The size of those that are in memory as well.
  [[nodiscard]] std::size_t loaded_bytes() const noexcept { return kept_.loaded_bytes(); }

 private:
  FoundFile load(std::string_view path, OpenFile file, loop::Instant now, std::uint64_t changes);
  void tell(std::string_view path, const FileStat& stat, WallTime wall) const;

  const Root& root_;
  const TimeSource& times_;
  const FileFields& fields_;
  FileCacheOptions options_;
  CachedFiles files_;
  KeptFiles kept_;
};

/// Reports whether the server compresses a file of this type and size.
bool is_worth_coding(std::string_view type, std::uint64_t size_bytes) noexcept;

/// A cache of one folder's files in one content coding: siblings, such as `app.js.br`, or files in
/// memory that this compresses. For one thread, like FileCache. That a file has no such form is
/// remembered as well.
class CodedCache {
 public:
  /// `root`, `times` and `fields` outlive the cache.
  CodedCache(const Root& root SKUA_LIFETIMEBOUND, const TimeSource& times SKUA_LIFETIMEBOUND,
             const FileFields& fields SKUA_LIFETIMEBOUND, coding::Coding coding,
             FileCacheOptions options = {})
      : root_(root),
        times_(times),
        fields_(fields),
        options_(options),
        coding_(coding),
        files_(options.total_bytes),
        kept_(options) {}

  /// Finds the coded form of the regular file at `path`; returns nullopt if there is none. A
  /// sibling that is older than its file is none, and parts of compressed files are not sent.
  std::optional<FoundFile> find(std::string_view path, const FoundFile& plain, FileUse use);

  [[nodiscard]] coding::Coding coding() const noexcept { return coding_; }

 private:
  FoundFile find_any(std::string_view path, const FoundFile& plain, FileUse use);
  FoundFile load(CachedFile entry, OpenFile sibling);
  [[nodiscard]] CachedFile make(CachedFile entry, const FoundFile& plain) const;
  [[nodiscard]] std::optional<OpenFile> find_sibling(std::string_view path,
                                                     const FileStat& plain) const;

  const Root& root_;
  const TimeSource& times_;
  const FileFields& fields_;
  FileCacheOptions options_;
  coding::Coding coding_;
  CachedFiles files_;
  KeptFiles kept_;
};

}  // namespace skua::files
