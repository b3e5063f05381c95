// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "files/cached_files.hpp"
#include "files/file_head.hpp"
#include "files/safe_path.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// A file from the cache, or an open one.
struct FoundFile {
  const CachedFile* cached = nullptr;  ///< valid until the next call of the cache
  OpenFile file{};                     ///< if `cached` is null: an uncached file, or a directory
  std::optional<coding::Coding> coding{};  ///< of a sibling
};

/// A cache of one folder's small files, for one thread; it has no locks.
///
/// An entry is compared with the file system once it is older than `fresh`, so a response is never
/// staler than that. Every entry is a consistent state of its file: no size or time changed during
/// the read. Nothing is memory-mapped, so a file that shrinks cannot raise a signal.
class FileCache {
 public:
  /// `root`, `times` and `fields` outlive the cache.
  FileCache(const Root& root SKUA_LIFETIMEBOUND, const TimeSource& times SKUA_LIFETIMEBOUND,
            const FileFields& fields SKUA_LIFETIMEBOUND, FileCacheOptions options = {})
      : root_(root),
        times_(times),
        fields_(fields),
        options_(options),
        files_(options.total_bytes) {}
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// Finds the file or directory at a canonical path.
  ///
  /// Ends with: the errors of Root::find.
  Result<FoundFile> find(std::string_view path);

  [[nodiscard]] std::size_t size_bytes() const noexcept { return files_.size_bytes(); }
  [[nodiscard]] std::size_t count() const noexcept { return files_.count(); }

 private:
  Result<FoundFile> load(std::string_view path, OpenFile file);

  const Root& root_;
  const TimeSource& times_;
  const FileFields& fields_;
  FileCacheOptions options_;
  CachedFiles files_;
};

/// Reports whether the server compresses a file of this type and size.
bool is_worth_coding(std::string_view type, std::uint64_t size_bytes) noexcept;

/// Returns the end of a sibling's name: `.br`, `.gz`, `.zst`; empty for other codings.
std::string_view sibling_suffix(coding::Coding coding) noexcept;

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
        files_(options.total_bytes) {}

  /// Finds the coded form of the regular file at `path`; returns nullopt if there is none. A
  /// sibling that is older than its file is none, nor is a compressed file unless `may_make`.
  std::optional<FoundFile> find(std::string_view path, const FoundFile& plain, bool may_make);

  [[nodiscard]] coding::Coding coding() const noexcept { return coding_; }

 private:
  FoundFile find_any(std::string_view path, const FoundFile& plain);
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
};

}  // namespace skua::files
