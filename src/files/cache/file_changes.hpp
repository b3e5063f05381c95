// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/disk.hpp"

/// The changes of files that this process has made or noticed. All caches of all threads obey them,
/// so that clients read what they have just written, and no thread answers with an older state than
/// another has.
namespace skua::files {

/// The counter of the next two.
inline std::atomic<std::uint64_t>& file_change_count() noexcept {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

/// Returns the number of such changes, of any files: folders that are served may be inside each
/// other. Any thread.
inline std::uint64_t file_changes() noexcept {
  return file_change_count().load(std::memory_order_acquire);
}
/// To be called after a change, before anybody is told. Any thread.
inline void note_file_change() noexcept {
  file_change_count().fetch_add(1, std::memory_order_acq_rel);
}

/// Notes that this process has written a new file, which has this state now.
void note_written(const disk::FileStat& stat);
/// Reports whether that is so, and was a few seconds ago at most: such a file has been written as a
/// whole, so that no other content has this state.
bool is_written_here(const disk::FileStat& stat);

/// The states of files that changed a moment ago, as the threads of one site have found them. Any
/// thread may use it.
class RecentStates final {
 public:
  /// Notes a change unless the file had this state before.
  void see(std::string_view path, const disk::FileStat& stat);

 private:
  static constexpr std::size_t most = 1024;

  std::mutex mutex_;
  std::unordered_map<std::string, disk::FileStat> states_;
};

}  // namespace skua::files
