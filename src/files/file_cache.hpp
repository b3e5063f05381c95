// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "files/file_head.hpp"
#include "files/safe_path.hpp"
#include "files/time_source.hpp"
#include "skua/error.hpp"
#include "skua/prepared_response.hpp"

namespace skua::files {

/// How much a cache holds, and for how long it believes itself.
struct FileCacheOptions {
  std::size_t file_bytes = 64_KiB;  ///< larger files are not kept; the system's page cache has them
  std::size_t total_bytes = 16_MiB;  ///< then the file that was asked for longest ago goes
  Duration fresh = 1s;               ///< after this the file system is asked again
};

/// A small file in memory, with its answers serialised.
struct CachedFile {
  std::string path{};
  FileHead head{};
  FileStat stat{};
  std::shared_ptr<const PreparedResponse> whole{};      ///< 200
  std::shared_ptr<const PreparedResponse> unchanged{};  ///< 304
  loop::Instant checked{};
  bool is_provisional = false;  ///< written so lately that the time stamps prove nothing yet
};

/// A file that was found: in memory, or open.
struct FoundFile {
  const CachedFile* cached = nullptr;  ///< valid until the cache is asked again
  OpenFile file{};                     ///< otherwise: a large file, or a directory
};

/// The small files of one folder, for one thread; no locks.
///
/// An entry is compared with the file system once it is older than `fresh`, so an answer is never
/// staler than that; every entry is one whole state of its file, as no size or time changed while
/// it was read. Nothing is mapped: a file that shrinks can never raise a signal.
class FileCache {
 public:
  /// `root`, `times` and what `cache_control` views outlive the cache.
  FileCache(const Root& root SKUA_LIFETIMEBOUND, const TimeSource& times SKUA_LIFETIMEBOUND,
            std::string_view cache_control SKUA_LIFETIMEBOUND, FileCacheOptions options = {})
      : root_(root), times_(times), cache_control_(cache_control), options_(options) {}
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// The file or directory at a canonical path.
  ///
  /// Ends with: what Root::find ends with.
  Result<FoundFile> find(std::string_view path);

  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return index_.size(); }

 private:
  using Entries = std::list<CachedFile>;

  Result<FoundFile> load(std::string_view path, OpenFile file);
  void insert(CachedFile entry);
  void erase(Entries::iterator entry) noexcept;
  static std::size_t cost(const CachedFile& entry) noexcept;

  const Root& root_;
  const TimeSource& times_;
  std::string_view cache_control_;
  FileCacheOptions options_;
  Entries entries_;  // the one asked for last comes first
  std::unordered_map<std::string_view, Entries::iterator> index_;  // by the entry's own path
  std::size_t size_bytes_ = 0;
};

}  // namespace skua::files
