// SPDX-License-Identifier: MIT
#include "files/cache/file_changes.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

namespace skua::files {
namespace {

/// The files that this process has written in the last seconds.
class WrittenFiles {
 public:
  void add(const disk::FileStat& stat) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    while (!files_.empty() && (files_.size() == most || now - files_.front().time > kept)) {
      files_.pop_front();
    }
    files_.push_back({stat, now});
  }
  bool has(const disk::FileStat& stat) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(files_, [&stat](const Written& one) {
      return one.stat.inode == stat.inode && one.stat.device == stat.device &&
             one.stat.modified_ns == stat.modified_ns && one.stat.size_bytes == stat.size_bytes;
    });
  }

 private:
  static constexpr std::size_t most = 1024;
  static constexpr std::chrono::seconds kept{5};  // by then a state tells enough

  struct Written {
    disk::FileStat stat{};
    std::chrono::steady_clock::time_point time{};
  };

  std::mutex mutex_;
  std::deque<Written> files_;  // oldest first
};

WrittenFiles& written_files() {
  static WrittenFiles files;
  return files;
}

}  // namespace

void note_written(const disk::FileStat& stat) {
  written_files().add(stat);
  note_file_change();
}

bool is_written_here(const disk::FileStat& stat) { return written_files().has(stat); }

void RecentStates::see(std::string_view path, const disk::FileStat& stat) {
  const std::lock_guard lock(mutex_);
  if (states_.size() == most) states_.clear();
  const auto [known, is_new] = states_.try_emplace(std::string(path), stat);
  if (!is_new && known->second == stat) return;
  known->second = stat;
  note_file_change();
}

}  // namespace skua::files
