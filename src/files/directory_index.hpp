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
};

enum class ListingOrder : std::uint8_t { Name, Size, Time };

/// How a listing is sorted; directories always come first.
struct ListingSort {
  ListingOrder order = ListingOrder::Name;
  bool descending = false;
};

/// Reads `name`, `size` or `time`, with a `-` before it for descending; anything else is by name.
ListingSort parse_sort(std::string_view text) noexcept;

/// Reads what of a directory may be shown: the files and directories that could be asked for one by
/// one.
///
/// It may be moved to another thread between two calls.
class DirectoryReader final {
 public:
  /// `path` is the directory's own canonical path with a slash at its end.
  static Result<DirectoryReader> open(std::shared_ptr<const Root> root, std::string_view path);

  /// Adds entries in the order of the directory; stops when there are `max_entries` in the list.
  ///
  /// Returns whether it stopped for that reason: there may be more.
  bool read(std::vector<DirectoryEntry>& entries, std::size_t max_entries);

 private:
  struct Close {
    void operator()(void* stream) const noexcept;
  };
  using Stream = std::unique_ptr<void, Close>;  // a DIR

  DirectoryReader(std::shared_ptr<const Root> root, std::string_view path, Stream stream)
      : root_(std::move(root)), path_(path), stream_(std::move(stream)) {}

  std::shared_ptr<const Root>
      root_;  // shared with the site, which may end before a thread that reads
  std::string path_;
  Stream stream_;
};

void sort_entries(std::vector<DirectoryEntry>& entries, ListingSort sort);

/// A part of a sorted directory.
struct ListingPage {
  std::span<const DirectoryEntry> entries{};
  ListingSort sort{};
  std::size_t number = 1;     ///< of this page; the first is 1
  std::size_t pages = 1;      ///< of the directory
  std::size_t total = 0;      ///< entries of all pages
  bool is_truncated = false;  ///< the directory has more entries than were read
};

/// Entries on one page.
inline constexpr std::size_t page_entries = 1000;

/// Reads the number of a page; anything else is the first.
std::size_t parse_page(std::string_view text) noexcept;

/// The page of this number, or the last one.
///
/// Lifetime:  the entries outlive the page.
ListingPage make_page(std::span<const DirectoryEntry> sorted SKUA_LIFETIMEBOUND, ListingSort sort,
                      std::size_t number);

/// `999`, `1.0K`, `12M`: bytes, or units of 1024.
std::string human_size(std::uint64_t size_bytes);

/// A page of HTML without scripts; links are relative, so it does not matter where it is mounted.
/// Programs that read nginx's and Apache's listings read it too.
std::string listing_html(const ListingPage& page, std::string_view path);

/// ```
/// {"path": "/a/", "total": 2, "page": 1, "pages": 1, "truncated": false,
///  "entries": [{"name", "type", "size", "modified"}]}
/// ```
/// with `"previous"` and `"next"`, relative references, where there are such pages.
std::string listing_json(const ListingPage& page, std::string_view path);

/// Whether an Accept field prefers JSON to HTML. RFC 9110 §12.5.1
bool prefers_json(std::string_view accept) noexcept;

}  // namespace skua::files
