// SPDX-License-Identifier: MIT
// In: changes as they are found. Out: one publication for those that come together, such as the
// files that a build writes.
#include "serve/watch/live_folder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

#include "loop/clock.hpp"

namespace skua::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds no_limit{-1};
constexpr std::chrono::milliseconds quiet{50};           // ends a burst
constexpr std::chrono::milliseconds longest_burst{500};  // of a folder that changes all the time

// Returns false if the watch was stopped.
bool collect(FolderChanges& changes, Burst& burst) {
  const std::size_t before = burst.count();
  if (!changes.wait(burst, no_limit)) return false;
  const Clock::time_point end = later(Clock::now(), Clock::duration(longest_burst));
  for (std::size_t count = before; count != burst.count() && Clock::now() < end;) {
    count = burst.count();
    if (!changes.wait(burst, quiet)) return false;
  }
  return true;
}

void publish_changes(FolderChanges& changes, ReloadHub& hub) noexcept {
  Burst burst;
  while (true) {
    try {
      if (!collect(changes, burst)) return;
      hub.publish(burst.take());
    } catch (const std::exception& error) {  // such as std::bad_alloc
      std::fprintf(stderr, "skua: --watch: %s\n", error.what());
      burst.add_unknown();
    }
  }
}

}  // namespace

LiveFolder::~LiveFolder() {
  if (!thread_.joinable()) return;
  changes_->stop();
  thread_.join();
}

void LiveFolder::start() {
  if (changes_ == nullptr) return;
  thread_ = std::thread([&changes = *changes_, hub = hub_] { publish_changes(changes, *hub); });
}

std::string LiveFolder::text() const {
  return "watching for changes: pages reload " + changes_->text();
}

Result<LiveFolder, Problem> watch_folder(const ServeOptions& options) {
  if (!options.watch) return LiveFolder();
  const files::PathPolicy policy{.dotfiles = options.files.dotfiles,
                                 .follow_symlinks = options.files.follow_symlinks};
  auto changes = FolderChanges::open(options.folder, policy);
  if (!changes) return std::move(changes).error();
  return LiveFolder(*std::move(changes), std::make_shared<ReloadHub>());
}

}  // namespace skua::cli
