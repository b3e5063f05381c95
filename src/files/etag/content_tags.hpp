// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "files/safe_path.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// Entity tags made of what files contain: the same on every machine, whenever a file was written.
///
/// Large files are hashed on a thread of this object's, one after the other, and their tags are
/// remembered by the state of the file. `const` members may be called from any thread.
class ContentTags final {
 public:
  /// The most tags of large files that are remembered, at about 200 bytes each; then the oldest are
  /// forgotten.
  static constexpr std::size_t most_tags = 16'384;
  /// The most files that wait for their turn; others are asked for again by the next request.
  static constexpr std::size_t most_waiting = 256;

  /// Reports whether this build can hash.
  static bool is_available() noexcept;
  /// Says that it cannot.
  static Problem missing();

  explicit ContentTags(std::shared_ptr<const Root> root) noexcept : root_(std::move(root)) {}
  ContentTags(const ContentTags&) = delete;
  ContentTags& operator=(const ContentTags&) = delete;
  /// Stops hashing; waits for a read of 256 KiB at most.
  ~ContentTags();

  /// Returns the tag of this content, with its quotes; empty if it cannot be hashed.
  static std::string of(std::string_view content);

  /// Returns the tag of the file at `path` in this state, which must not be a recent one. Returns
  /// an empty text if it is not known yet, and has it made then.
  std::string find(std::string_view path, const FileStat& stat) const;

 private:
  struct HashState {
    std::size_t operator()(const FileStat& stat) const noexcept;
  };
  struct Work {
    std::string path;
    FileStat stat;
  };

  void run() const;
  [[nodiscard]] std::string hash(const Work& work) const;
  void remember(const FileStat& stat, std::string tag) const;

  std::shared_ptr<const Root> root_;
  mutable std::mutex mutex_;
  mutable std::condition_variable has_work_;
  mutable std::deque<Work> waiting_;  // the first is being hashed
  mutable std::unordered_map<FileStat, std::string, HashState> tags_;
  mutable std::deque<FileStat> order_;  // oldest first
  mutable std::thread thread_;          // started by the first large file
  std::atomic<bool> is_stopping_{false};
};

}  // namespace skua::files
