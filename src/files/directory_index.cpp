// SPDX-License-Identifier: MIT
// In: a directory below the root. Out: its entries, sorted.
// Every entry passes the name check and, if it is a link, the resolver itself, so the listing never
// shows a file that would be answered with 404.
#include "files/directory_index.hpp"

#include "base/ascii.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace skua::files {
namespace {

bool may_be_shown(std::string_view name, const PathPolicy& policy) noexcept {
  return is_safe_name(name, policy.names) && (policy.dotfiles || name.front() != '.');
}

DirectoryEntry make_entry(std::string name, const FileStat& stat) {
  const bool is_directory = stat.kind == FileKind::Directory;
  return {.name = std::move(name),
          .size_bytes = is_directory ? 0 : stat.size_bytes,
          .modified_ns = stat.modified_ns,
          .is_directory = is_directory};
}

// Returns the entry as it would be served, or nullopt for special files and dangling links.
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

bool less_ignoring_case(std::string_view a, std::string_view b) noexcept {
  const std::size_t shorter = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < shorter; ++i) {
    const char x = ascii::to_lower(a[i]);
    const char y = ascii::to_lower(b[i]);
    if (x != y) return x < y;
  }
  return a.size() != b.size() ? a.size() < b.size() : a < b;
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

void DirectoryReader::Close::operator()(void* stream) const noexcept {
  closedir(static_cast<DIR*>(stream));
}

Result<DirectoryReader> DirectoryReader::open(std::shared_ptr<const Root> root,
                                              std::string_view path) {
  Result<OpenFile> folder = root->find(path);
  if (!folder) return folder.error();
  const int number = folder->descriptor.release();
  Stream stream(fdopendir(number));
  if (!stream) {
    const Error error = Error::from_system(errno, "fdopendir");
    const Descriptor closed(number);
    return error;
  }
  return DirectoryReader(std::move(root), path, std::move(stream));
}

bool DirectoryReader::read(std::vector<DirectoryEntry>& entries, std::size_t max_entries) {
  DIR* const stream = static_cast<DIR*>(stream_.get());
  while (entries.size() < max_entries) {
    const dirent* const item = readdir(stream);
    if (item == nullptr) return false;
    if (!may_be_shown(item->d_name, root_->policy())) continue;
    if (auto entry = inspect(*root_, dirfd(stream), path_, item->d_name)) {
      entries.push_back(*std::move(entry));
    }
  }
  return true;
}

void sort_entries(std::vector<DirectoryEntry>& entries, ListingSort sort) {
  const auto before = [sort](const DirectoryEntry& a, const DirectoryEntry& b) {
    if (sort.order == ListingOrder::Size && a.size_bytes != b.size_bytes) {
      return a.size_bytes < b.size_bytes;
    }
    if (sort.order == ListingOrder::Time && a.modified_ns != b.modified_ns) {
      return a.modified_ns < b.modified_ns;
    }
    return less_ignoring_case(a.name, b.name);
  };
  std::sort(entries.begin(), entries.end(), [&](const DirectoryEntry& a, const DirectoryEntry& b) {
    if (a.is_directory != b.is_directory) return a.is_directory;
    return sort.descending ? before(b, a) : before(a, b);
  });
}

std::size_t parse_page(std::string_view text) noexcept {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end ? std::max<std::size_t>(number, 1) : 1;
}

ListingPage make_page(std::span<const DirectoryEntry> sorted, ListingSort sort,
                      std::size_t number) {
  ListingPage page{.sort = sort, .total = sorted.size()};
  page.pages = std::max<std::size_t>((sorted.size() + page_entries - 1) / page_entries, 1);
  page.number = std::clamp<std::size_t>(number, 1, page.pages);
  const std::size_t first = (page.number - 1) * page_entries;
  page.entries = sorted.subspan(first, std::min(page_entries, sorted.size() - first));
  return page;
}

bool prefers_json(std::string_view accept) noexcept {
  // Weights in thousandths; types that are not listed have weight 0.
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
