// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "files/file_head.hpp"
#include "files/safe_path.hpp"
#include "skua/error.hpp"
#include "skua/prepared_response.hpp"

namespace skua::files {

/// The size of a cache, and how long it trusts its entries.
struct FileCacheOptions {
  std::size_t file_bytes = 64_KiB;   ///< larger files are left to the system's page cache
  std::size_t total_bytes = 16_MiB;  ///< beyond this the least recently used file is evicted
  Duration fresh = 1s;               ///< older entries are checked against the file system
};

/// A small file in memory, with its prepared responses.
struct CachedFile {
  std::string path{};
  FileHead head{};
  FileStat stat{};
  std::shared_ptr<const PreparedResponse> whole{};      ///< 200
  std::shared_ptr<const PreparedResponse> unchanged{};  ///< 304
  loop::Instant checked{};
  bool is_provisional = false;  ///< written too recently to trust its time stamps
};

/// A file from the cache, or an open one.
struct FoundFile {
  const CachedFile* cached = nullptr;  ///< valid until the next call of the cache
  OpenFile file{};                     ///< if `cached` is null: an uncached file, or a directory
};

/// A cache of one folder's small files, for one thread; it has no locks.
///
/// An entry is compared with the file system once it is older than `fresh`, so a response is never
/// staler than that. Every entry is a consistent state of its file: no size or time changed during
/// the read. Nothing is memory-mapped, so a file that shrinks cannot raise a signal.
class FileCache {
 public:
  /// `root`, `times` and the text of `cache_control` outlive the cache.
  FileCache(const Root& root SKUA_LIFETIMEBOUND, const TimeSource& times SKUA_LIFETIMEBOUND,
            std::string_view cache_control SKUA_LIFETIMEBOUND, FileCacheOptions options = {})
      : root_(root), times_(times), cache_control_(cache_control), options_(options) {}
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  /// Finds the file or directory at a canonical path.
  ///
  /// Ends with: the errors of Root::find.
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
  Entries entries_;                                                // most recently used first
  std::unordered_map<std::string_view, Entries::iterator> index_;  // by the entry's own path
  std::size_t size_bytes_ = 0;
};

/// One file cache per calling thread; they share nothing, so lookups take no lock.
///
/// A lock is taken once per thread, to create its cache. The cache of an ended thread stays until
/// this object is destroyed, or is reused by a thread with the same id.
class WorkerCaches {
 public:
  explicit WorkerCaches(std::function<std::unique_ptr<FileCache>()> make);
  WorkerCaches(const WorkerCaches&) = delete;
  WorkerCaches& operator=(const WorkerCaches&) = delete;

  /// Returns the calling thread's cache.
  [[nodiscard]] FileCache& local() const;

 private:
  FileCache& find_or_make() const;

  std::function<std::unique_ptr<FileCache>()> make_;
  std::uint64_t id_;  // unique in the process
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::thread::id, std::unique_ptr<FileCache>> caches_;
};

}  // namespace skua::files
