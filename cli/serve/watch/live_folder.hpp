// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "serve/options.hpp"
#include "serve/watch/folder_changes.hpp"
#include "serve/watch/reload_hub.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// The folder of --watch; without that option, nothing.
class LiveFolder {
 public:
  LiveFolder() = default;
  LiveFolder(std::unique_ptr<FolderChanges> changes, std::shared_ptr<ReloadHub> hub) noexcept
      : changes_(std::move(changes)), hub_(std::move(hub)) {}
  LiveFolder(LiveFolder&&) noexcept = default;
  LiveFolder& operator=(LiveFolder&&) = delete;
  ~LiveFolder();

  [[nodiscard]] const std::shared_ptr<ReloadHub>& hub() const noexcept { return hub_; }
  /// Starts the thread that publishes the changes. It has the rights of the caller's.
  void start();
  /// Returns what is watched, as a line for people.
  [[nodiscard]] std::string text() const;

 private:
  std::unique_ptr<FolderChanges> changes_;
  std::shared_ptr<ReloadHub> hub_;  // shared with the site and its streams of events
  std::thread thread_;
};

/// Watches the folder from now on, if --watch is set.
///
/// Ends with: the errors of FolderChanges::open().
Result<LiveFolder, Problem> watch_folder(const ServeOptions& options);

}  // namespace skua::cli
