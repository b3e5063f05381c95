// SPDX-License-Identifier: MIT
// In: requests for listings of large folders. Out: their entries, read once for many of them.
#include "files/listing/folder_reads.hpp"

#include <utility>

namespace skua::files {
namespace {

// The most entries of a folder that one listing holds in memory.
constexpr std::size_t listed_at_most = 1'000'000;

}  // namespace

Result<bool> read_entries(DirectoryReader& reader, const TreeAccess& access, std::string_view path,
                          std::vector<DirectoryEntry>& entries, std::size_t most) {
  const Result<bool> has_more = reader.read(entries, most);
  if (!access.has_exceptions_below(path)) return has_more;
  std::erase_if(entries, [&](const DirectoryEntry& entry) {
    const std::string inner = std::string(path) + entry.name + (entry.is_directory ? "/" : "");
    return !access.shows(Method::Get, inner, entry.is_directory);
  });
  return has_more;
}

Result<void> FolderRead::read(const std::shared_ptr<const Root>& root, const TreeAccess& access,
                              std::string_view path) {
  has_begun_ = true;
  if (is_read_) return {};
  auto reader = DirectoryReader::open(root, path);
  if (!reader) return reader.error();
  entries_.clear();
  const Result<bool> has_more = read_entries(*reader, access, path, entries_, listed_at_most);
  if (!has_more) return has_more.error();
  is_truncated_ = *has_more;
  is_read_ = true;
  return {};
}

void FolderRead::sort(DirectoryReader& reader, ListingSort sort) {
  if (sort.order != ListingOrder::Name && !has_details_) {
    reader.add_details(entries_);
    has_details_ = true;
  }
  if (order_ && order_->order == sort.order && order_->descending == sort.descending) return;
  sort_entries(entries_, sort);
  order_ = sort;
}

std::shared_ptr<FolderRead> LargeListings::join(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(reads_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<FolderRead>& known = reads_[path];
  std::shared_ptr<FolderRead> found = known.lock();
  if (found == nullptr || found->has_begun()) known = found = std::make_shared<FolderRead>();
  return found;
}

}  // namespace skua::files
