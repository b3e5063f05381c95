// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/safe_path.hpp"
#include "skua/error.hpp"

namespace skua::files {

struct DirectoryEntry {
  std::string name{};
  std::uint64_t size_bytes = 0;  ///< 0 for a directory
  std::int64_t modified_ns = 0;  ///< since 1970
  bool is_directory = false;
};

struct DirectoryListing {
  std::vector<DirectoryEntry> entries{};
  bool is_truncated = false;  ///< there are more than were read
};

enum class ListingOrder : std::uint8_t { Name, Size, Time };

/// How a listing is sorted; directories always come first.
struct ListingSort {
  ListingOrder order = ListingOrder::Name;
  bool descending = false;
};

/// Reads `name`, `size` or `time`, with a `-` before it for descending; anything else is by name.
ListingSort parse_sort(std::string_view text) noexcept;

/// What of a directory may be shown: the files and directories that could be asked for one by one.
///
/// `path` is the directory's own canonical path with a slash at its end. Reads at most
/// `max_entries` that may be shown.
Result<DirectoryListing> read_directory(const Root& root, std::string_view path,
                                        std::size_t max_entries = 10'000);

void sort_entries(DirectoryListing& listing, ListingSort sort);

/// `0 B`, `999 B`, `1.0 KiB`, `12 MiB`.
std::string human_size(std::uint64_t size_bytes);

/// A page of HTML without scripts; links are relative, so it does not matter where it is mounted.
std::string listing_html(const DirectoryListing& listing, std::string_view path, ListingSort sort);

/// `{"path": "/a/", "truncated": false, "entries": [{"name", "type", "size", "modified"}]}`.
std::string listing_json(const DirectoryListing& listing, std::string_view path);

/// Whether an Accept field prefers JSON to HTML. RFC 9110 §12.5.1
bool prefers_json(std::string_view accept) noexcept;

}  // namespace skua::files
