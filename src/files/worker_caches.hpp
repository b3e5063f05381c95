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

/// One file cache for each thread that asks; they share nothing, so finding in one takes no lock.
///
/// A lock is taken once per thread, when its cache is made. Caches of threads that have ended stay
/// until this object goes, or a thread with the same id comes.
class WorkerCaches {
 public:
  explicit WorkerCaches(std::function<std::unique_ptr<FileCache>()> make);
  WorkerCaches(const WorkerCaches&) = delete;
  WorkerCaches& operator=(const WorkerCaches&) = delete;

  /// The calling thread's own cache.
  [[nodiscard]] FileCache& local() const;

 private:
  FileCache& find_or_make() const;

  std::function<std::unique_ptr<FileCache>()> make_;
  std::uint64_t id_;  // never used twice in a process
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::thread::id, std::unique_ptr<FileCache>> caches_;
};

}  // namespace skua::files
