// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "files/safe_path.hpp"
#include "serve/watch/burst.hpp"

namespace skua::cli {

/// Finds the changes below a folder by looking at all of its files each second, for systems that do
/// not tell.
class PolledFolder {
 public:
  PolledFolder(std::string folder, files::PathPolicy policy);

  /// Adds what has changed since the last look.
  void look(Burst& burst);
  /// Looks each second until something has changed; see FolderChanges.
  bool wait(Burst& burst, std::chrono::milliseconds patience);
  void stop() noexcept;
  /// Returns what is looked at, as a text; see FolderChanges.
  [[nodiscard]] std::string text() const;

 private:
  struct State {
    std::filesystem::file_time_type modified{};
    std::uintmax_t size_bytes = 0;

    friend bool operator==(const State&, const State&) noexcept = default;
  };
  using States = std::map<std::string, State>;

  void add(States& states, const std::filesystem::directory_entry& entry);
  States find_all();

  std::filesystem::path folder_;
  files::PathPolicy policy_;
  States states_;
  bool is_incomplete_ = false;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_stopped_ = false;  // guarded by mutex_
};

}  // namespace skua::cli
