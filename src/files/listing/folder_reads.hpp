// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/access/tree_access.hpp"
#include "files/listing/directory_index.hpp"
#include "skua/error.hpp"
#include "skua/lane.hpp"

namespace skua::files {

/// Reads up to `most` entries of a folder that a request may see. Returns whether there may be
/// more.
///
/// `path` is that of the folder below the root, with a slash at its end.
Result<bool> read_entries(DirectoryReader& reader, const TreeAccess& access, std::string_view path,
                          std::vector<DirectoryEntry>& entries, std::size_t most);

/// The entries of a large folder, which are read once for all requests that came before. Used on
/// the thread of LargeListings only, but has_begun().
class FolderRead final {
 public:
  /// Reads the folder, unless that has been done.
  /// Ends with: the errors of DirectoryReader.
  Result<void> read(const std::shared_ptr<const Root>& root, const TreeAccess& access,
                    std::string_view path);
  /// Brings the entries in an order; adds their details if it needs them.
  void sort(DirectoryReader& reader, ListingSort sort);

  [[nodiscard]] const std::vector<DirectoryEntry>& entries() const noexcept { return entries_; }
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_; }
  /// Reports whether it may lack what has just been added to the folder. Any thread.
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }

 private:
  std::atomic<bool> has_begun_{false};
  bool is_read_ = false;
  bool is_truncated_ = false;
  bool has_details_ = false;
  std::optional<ListingSort> order_{};
  std::vector<DirectoryEntry> entries_{};
};

/// The listings of large folders of a site: one after another on a thread of their own, so that
/// they delay each other and not uploads and archives. Any thread may use it.
class LargeListings final {
 public:
  /// Returns the entries of the folder at this path below the root. Requests that come before the
  /// folder is read share them.
  [[nodiscard]] std::shared_ptr<FolderRead> join(const std::string& path);
  [[nodiscard]] Lane& lane() noexcept { return lane_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<FolderRead>> reads_;
  Lane lane_{{.threads = 1, .queued_calls = 128}};
};

}  // namespace skua::files
