// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "files/file_cache.hpp"

namespace skua::files {

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
