// SPDX-License-Identifier: MIT
// In: a directory below the root. Out: its entries, sorted.
// Shown is exactly what can be asked for: every entry passes the guard of names and, if it is a
// link, the resolver itself, so the listing never tells of a file that would be answered with 404.
#include "files/directory_index.hpp"

#include "base/ascii.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace skua::files {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { closedir(directory); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

bool may_be_shown(std::string_view name, const PathPolicy& policy) noexcept {
  return is_safe_name(name) && (policy.dotfiles || name.front() != '.');
}

DirectoryEntry make_entry(std::string name, const FileStat& stat) {
  const bool is_directory = stat.kind == FileKind::Directory;
  return {.name = std::move(name),
          .size_bytes = is_directory ? 0 : stat.size_bytes,
          .modified_ns = stat.modified_ns,
          .is_directory = is_directory};
}

// The entry as it would be served; nothing for special files and links that lead nowhere.
std::optional<DirectoryEntry> inspect(const Root& root, int directory, std::string_view path,
                                      const char* name) {
  struct stat state{};
  if (fstatat(directory, name, &state, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (S_ISLNK(state.st_mode)) {
    const Result<OpenFile> target = root.find(std::string(path) + name);
    if (!target) return std::nullopt;
    return make_entry(name, target->stat);
  }
  const Result<FileStat> stat = convert(state);
  if (!stat) return std::nullopt;
  return make_entry(name, *stat);
}

bool less_ignoring_case(const std::string& a, const std::string& b) noexcept {
  const auto less = [](char x, char y) { return ascii::to_lower(x) < ascii::to_lower(y); };
  if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less)) return true;
  if (std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end(), less)) return false;
  return a < b;
}

}  // namespace

ListingSort parse_sort(std::string_view text) noexcept {
  ListingSort sort;
  if (text.starts_with('-')) {
    sort.descending = true;
    text.remove_prefix(1);
  }
  if (text == "size") {
    sort.order = ListingOrder::Size;
  } else if (text == "time") {
    sort.order = ListingOrder::Time;
  } else if (text != "name") {
    sort.descending = false;
  }
  return sort;
}

Result<DirectoryListing> read_directory(const Root& root, std::string_view path,
                                        std::size_t max_entries) {
  Result<OpenFile> folder = root.find(path);
  if (!folder) return folder.error();
  const int number = folder->descriptor.release();
  const DirectoryStream stream(fdopendir(number));
  if (!stream) {
    const Error error = Error::from_system(errno, "fdopendir");
    const Descriptor closed(number);
    return error;
  }
  DirectoryListing listing;
  while (const dirent* const item = readdir(stream.get())) {
    if (!may_be_shown(item->d_name, root.policy())) continue;
    if (listing.entries.size() == max_entries) {
      listing.is_truncated = true;
      break;
    }
    if (auto entry = inspect(root, number, path, item->d_name)) {
      listing.entries.push_back(*std::move(entry));
    }
  }
  return listing;
}

void sort_entries(DirectoryListing& listing, ListingSort sort) {
  const auto before = [sort](const DirectoryEntry& a, const DirectoryEntry& b) {
    if (sort.order == ListingOrder::Size && a.size_bytes != b.size_bytes) {
      return a.size_bytes < b.size_bytes;
    }
    if (sort.order == ListingOrder::Time && a.modified_ns != b.modified_ns) {
      return a.modified_ns < b.modified_ns;
    }
    return less_ignoring_case(a.name, b.name);
  };
  std::sort(listing.entries.begin(), listing.entries.end(),
            [&](const DirectoryEntry& a, const DirectoryEntry& b) {
              if (a.is_directory != b.is_directory) return a.is_directory;
              return sort.descending ? before(b, a) : before(a, b);
            });
}

bool prefers_json(std::string_view accept) noexcept {
  // Weights in thousandths; what is not named has none.
  int json = 0;
  int html = 0;
  while (!accept.empty()) {
    std::string_view element = ascii::take_list_element(accept);
    const std::size_t semicolon = std::min(element.find(';'), element.size());
    const std::string_view type = ascii::trim_ows(element.substr(0, semicolon));
    element.remove_prefix(semicolon);
    int weight = 1000;
    const std::size_t q = element.find("q=");
    if (q != std::string_view::npos) {
      weight = element.substr(q + 2).starts_with('1') ? 1000 : 0;
      int scale = 100;
      for (std::size_t i = q + 4; i < element.size() && ascii::is_digit(element[i]); ++i) {
        weight += (element[i] - '0') * scale;
        scale /= 10;
      }
    }
    if (ascii::equals_ignoring_case(type, "application/json")) json = weight;
    if (ascii::equals_ignoring_case(type, "text/html")) html = weight;
  }
  return json > html;
}

}  // namespace skua::files
