// SPDX-License-Identifier: MIT
// In: a folder. Out: what is below it. Only names are kept, of the folders on the way down: no
// folder stays open, and every file is found anew by its path below the root, as for a request.
#include "files/archive/folder_walk.hpp"

#include <algorithm>
#include <utility>

#include "files/listing/directory_index.hpp"

namespace skua::files {
namespace {

// A file that may not be read could not be requested, either.
bool is_left_out(Error error) noexcept {
  return error.code() == Errc::NotFound || error.code() == Errc::PermissionDenied;
}

std::size_t bytes_of(const std::vector<NamedFile>& files) noexcept {
  std::size_t bytes = 0;
  for (const NamedFile& file : files) {
    bytes += sizeof(NamedFile) + file.name.size() + file.entry.size();
  }
  return bytes;
}

}  // namespace

Result<std::optional<WalkItem>> FolderWalk::step() {
  if (!has_begun_) {
    has_begun_ = true;
    name_ += '/';
    auto first = visit();
    if (first && !*first) return Error(Errc::NotFound, "archive: the folder");
    return first;
  }
  while (!levels_.empty()) {
    Level& level = levels_.back();
    path_.resize(level.path_bytes);
    name_.resize(level.name_bytes);
    if (level.next < level.files.size()) {
      const NamedFile& file = level.files[level.next++];
      path_ += file.name;
      name_ += file.entry.empty() ? file.name : file.entry;
      return visit();
    }
    held_bytes_ -= level.held_bytes;
    levels_.pop_back();
  }
  return std::optional<WalkItem>();
}

Result<std::optional<WalkItem>> FolderWalk::visit() {
  std::optional<WalkItem> item;
  if (!access_.allows(Method::Get, path_)) return item;
  Result<OpenFile> file = root_->find(path_);
  if (!file && is_left_out(file.error())) return item;
  if (!file) return file.error();
  if (++entry_count_ > limits_.entries) return Error(Errc::BodyTooLong, "archive: the entries");
  if (file->stat.kind == FileKind::Directory) {
    const Result<bool> entered = enter(file->stat);
    if (!entered) return entered.error();
    if (!*entered) return item;
  }
  item.emplace(WalkItem{.name = name_, .file = *std::move(file)});
  return item;
}

// Reads the names of a folder. Returns false if it is left out.
Result<bool> FolderWalk::enter(const FileStat& stat) {
  if (contains_itself(stat)) return false;
  if (levels_.size() == limits_.depth) return Error(Errc::BodyTooLong, "archive: the depth");
  if (!path_.ends_with('/')) path_ += '/';
  if (!name_.ends_with('/')) name_ += '/';
  if (!access_.allows(Method::Get, path_)) return false;
  auto reader = DirectoryReader::open(root_, path_);
  if (!reader && is_left_out(reader.error())) return false;
  if (!reader) return reader.error();
  std::vector<DirectoryEntry> entries;
  const std::size_t most = limits_.entries - entry_count_;
  const Result<bool> has_more = reader->read(entries, most + 1);
  if (!has_more) return has_more.error();
  if (*has_more) return Error(Errc::BodyTooLong, "archive: the entries");
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (DirectoryEntry& entry : entries) names.push_back(std::move(entry.name));
  Level level{.path_bytes = path_.size(),
              .name_bytes = name_.size(),
              .files = name_entries(std::move(names)),
              .inode = stat.inode,
              .device = stat.device};
  level.held_bytes = bytes_of(level.files);
  held_bytes_ += level.held_bytes;
  if (held_bytes_ > limits_.held_bytes) return Error(Errc::BodyTooLong, "archive: the names");
  levels_.push_back(std::move(level));
  return true;
}

bool FolderWalk::contains_itself(const FileStat& stat) const noexcept {
  return std::ranges::any_of(levels_, [&stat](const Level& level) {
    return level.inode == stat.inode && level.device == stat.device;
  });
}

}  // namespace skua::files
