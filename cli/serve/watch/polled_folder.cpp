// SPDX-License-Identifier: MIT
// In: the times and sizes of all files below a folder. Out: those that differ from the last ones.
#include "serve/watch/polled_folder.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "files/listing/directory_index.hpp"
#include "serve/watch/folder_changes.hpp"

namespace skua::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds interval{1000};

std::string text_of(const fs::path& path) {
  const std::u8string text = path.generic_u8string();
  return {text.begin(), text.end()};
}

}  // namespace

// An editor's backup copy, `page.html~`, and its unsaved changes, `#page.html#`.
bool is_watched_name(std::string_view name, const files::PathPolicy& policy) noexcept {
  const bool is_unsaved = name.size() > 1 && name.starts_with('#') && name.ends_with('#');
  const bool is_of_editor = is_unsaved || name.ends_with('~');
  return !is_of_editor && files::is_visible(name, policy);
}

PolledFolder::PolledFolder(std::string folder, files::PathPolicy policy)
    : folder_(std::u8string(folder.begin(), folder.end())), policy_(policy), states_(find_all()) {}

// The time of a folder says no more than the names in it.
void PolledFolder::add(States& states, const fs::directory_entry& entry) {
  std::error_code error;  // what has just gone counts as gone
  State state;
  if (!entry.is_directory(error) && !error) state.modified = entry.last_write_time(error);
  if (!error && entry.is_regular_file(error)) state.size_bytes = entry.file_size(error);
  if (!error) states.emplace(text_of(entry.path().lexically_relative(folder_)), state);
}

PolledFolder::States PolledFolder::find_all() {
  States states;
  std::error_code error;
  is_incomplete_ = false;
  fs::recursive_directory_iterator entry(folder_, fs::directory_options::skip_permission_denied,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (states.size() >= FolderChanges::watched_at_most) {
      is_incomplete_ = true;
      break;
    }
    if (is_watched_name(text_of(entry->path().filename()), policy_)) {
      add(states, *entry);
    } else {
      entry.disable_recursion_pending();
    }
  }
  return states;
}

std::string PolledFolder::text() const {
  if (!is_incomplete_) return "each second";
  return "each second, but only the first " + std::to_string(FolderChanges::watched_at_most) +
         " files";
}

void PolledFolder::look(Burst& burst) {
  States now = find_all();
  for (const auto& [path, state] : now) {
    const auto before = states_.find(path);
    if (before == states_.end()) {
      burst.add(path, Burst::Event::Appeared);
    } else if (before->second != state) {
      burst.add(path, Burst::Event::Changed);
    }
  }
  for (const auto& [path, state] : states_) {
    if (!now.contains(path)) burst.add(path, Burst::Event::Vanished);
  }
  states_ = std::move(now);
}

bool PolledFolder::wait(Burst& burst, std::chrono::milliseconds patience) {
  const bool is_patient = patience.count() < 0;
  std::unique_lock lock(mutex_);
  const auto pause = is_patient ? interval : std::min(patience, interval);
  if (stopped_.wait_for(lock, pause, [this] { return is_stopped_; })) return false;
  lock.unlock();
  look(burst);
  return true;
}

void PolledFolder::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  stopped_.notify_all();
}

}  // namespace skua::cli
