// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "files/safe_path.hpp"
#include "serve/watch/burst.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// Finds the changes below a folder: at once on Linux (inotify), within a second elsewhere.
///
/// Files whose names are not served do not count, nor do those that editors make beside the file
/// that they write. Links to folders are not followed: what they lead to is watched in its place.
class FolderChanges final {
 public:
  /// The most folders, or without inotify files and folders, that are watched.
  static constexpr std::size_t watched_at_most = 65'536;

  /// Watches the folder and all below it from now on.
  ///
  /// Ends with: the error of the folder, or TooManyOpenFiles, with a text that gives advice.
  static Result<std::unique_ptr<FolderChanges>, Problem> open(const std::string& folder,
                                                              const files::PathPolicy& policy);
  FolderChanges(const FolderChanges&) = delete;
  FolderChanges& operator=(const FolderChanges&) = delete;
  ~FolderChanges();

  /// Returns how changes are found, and what is left out, as a text.
  [[nodiscard]] std::string text() const;

  /// Waits until something may have changed, and adds to a burst what has. Returns false if stop()
  /// was called.
  ///
  /// Waits for: at most `patience`; negative: without a limit.
  bool wait(Burst& burst, std::chrono::milliseconds patience);
  /// Ends the wait for good. Any thread.
  void stop() noexcept;

 private:
  struct Impl;
  explicit FolderChanges(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Reports whether changes of a name count.
bool is_watched_name(std::string_view name, const files::PathPolicy& policy) noexcept;

}  // namespace skua::cli
