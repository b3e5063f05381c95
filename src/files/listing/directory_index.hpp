// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/safe_path.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::files {

struct DirectoryEntry {
  std::string name{};
  std::uint64_t size_bytes = 0;  ///< 0 for a directory
  std::int64_t modified_ns = 0;  ///< since 1970
  bool is_directory = false;
  bool has_details = true;  ///< size and time are known
};

enum class ListingOrder : std::uint8_t { Name, Size, Time };

/// The sort order of a listing; directories always come first.
struct ListingSort {
  ListingOrder order = ListingOrder::Name;
  bool descending = false;
};

/// Parses `name`, `size` or `time`, prefixed with `-` for descending; anything else sorts by name.
ListingSort parse_sort(std::string_view text) noexcept;

/// Reports whether a listing shows a name.
inline bool is_visible(std::string_view name, const PathPolicy& policy) noexcept {
  return is_safe_name(name, policy.names) && (policy.dotfiles || name.front() != '.') &&
         (policy.unfinished || !is_unfinished(name));
}

/// Reads the visible entries of a directory: files and directories that a client could request.
///
/// It may be moved to another thread between calls.
class DirectoryReader final {
 public:
  /// `path` is the directory's canonical path with a trailing slash.
  static Result<DirectoryReader> open(std::shared_ptr<const Root> root, std::string_view path);

  /// Appends entries in directory order until `entries` holds `max_entries`; some have no details,
  /// because to ask the system for those of a large directory takes longer than all the rest.
  ///
  /// Returns whether it stopped at that limit: there may be more.
  /// Ends with: SystemFailure and the like if the disk fails; `entries` are then not all.
  Result<bool> read(std::vector<DirectoryEntry>& entries, std::size_t max_entries);

  /// Opens an entry, as a request for it would.
  [[nodiscard]] Result<OpenFile> find(std::string_view name) const {
    return root_->find(std::string(path_).append(name));
  }

  /// Adds missing details, and removes entries that are no longer there.
  void add_details(std::vector<DirectoryEntry>& entries);

 private:
  struct Close {
    void operator()(void* stream) const noexcept;
  };
  using Stream = std::unique_ptr<void, Close>;  // the system's state

  DirectoryReader(std::shared_ptr<const Root> root, std::string_view path, Stream stream)
      : root_(std::move(root)), path_(path), stream_(std::move(stream)) {}

  std::shared_ptr<const Root>
      root_;  // shared with the site, which may be gone before a reading thread ends
  std::string path_;
  Stream stream_;
};

void sort_entries(std::vector<DirectoryEntry>& entries, ListingSort sort);

/// Removes the entries whose names do not contain `text`, in any letter case.
void filter_entries(std::vector<DirectoryEntry>& entries, std::string_view text);

/// Returns the entries whose names contain `text`, in any letter case.
std::vector<DirectoryEntry> filtered(std::span<const DirectoryEntry> entries,
                                     std::string_view text);

/// One page of a sorted directory.
struct ListingPage {
  std::span<const DirectoryEntry> entries{};
  ListingSort sort{};
  std::size_t number = 1;     ///< page number, from 1
  std::size_t pages = 1;      ///< number of pages
  std::size_t total = 0;      ///< entries on all pages
  bool is_truncated = false;  ///< the directory has more entries than were read
  std::string_view filter{};  ///< the text that all names contain
  bool has_gallery = false;   ///< shows pictures, films and sound instead of their names
  bool has_upload_form = false;
  bool has_archives = false;  ///< links to archives of the folder
  std::string_view readme{};  ///< HTML below the entries
};

/// The number of entries on a page.
inline constexpr std::size_t page_entries = 1000;

/// Parses a page number; returns 1 for anything else.
std::size_t parse_page(std::string_view text) noexcept;

/// Returns the page with this number, or the last one.
///
/// Lifetime:  the entries outlive the page.
ListingPage make_page(std::span<const DirectoryEntry> sorted SKUA_LIFETIMEBOUND, ListingSort sort,
                      std::size_t number);

/// Formats a size as `999`, `1.0K` or `12M`: bytes, or units of 1024.
std::string human_size(std::uint64_t size_bytes);

/// Formats a page as HTML. Links are relative, so any mount point will do. Programs that parse
/// nginx's and Apache's listings can parse it.
std::string listing_html(const ListingPage& page, std::string_view path);

/// Formats a page as JSON:
/// ```
/// {"path": "/a/", "total": 2, "page": 1, "pages": 1, "truncated": false,
///  "entries": [{"name", "type", "size", "modified"}]}
/// ```
/// and `"previous"` and `"next"`, relative references, if there are such pages.
std::string listing_json(const ListingPage& page, std::string_view path);

/// Reports whether an Accept field prefers JSON to HTML. RFC 9110 §12.5.1
bool prefers_json(std::string_view accept) noexcept;

}  // namespace skua::files
