// SPDX-License-Identifier: MIT
// In: paths, and the files that they led to. Out: the same files, still open. A file is kept only
// once its time stamps are old: then every later write changes its state, and its tag is strong.
#include "files/open/kept_files.hpp"

#include <memory>
#include <span>
#include <utility>

#include "base/disk.hpp"
#include "base/file_io.hpp"

namespace skua::files {
namespace {

// A file that is needed less often while it is open does not push others out of memory.
constexpr std::uint32_t copies_until_loaded = 8;

bool has_stood_still(const KeptFile& file) {
  const Result<FileStat> stat = stat_of(file.file->number());
  return stat && *stat == file.stat;
}

}  // namespace

const KeptFile* KeptFiles::find(std::string_view path, loop::Instant now, FileUse use) {
  // The space of a removed file is free only once it is closed.
  while (!files_.empty() && now - files_.back().used >= options_.idle) erase(files_.back().path);
  KeptFile* const known = touch(path, now);
  if (known == nullptr || now - known->found >= options_.fresh) return nullptr;
  if (known->changes != file_changes()) return nullptr;
  if (use.is_part || now - known->compared >= options_.settled) {
    if (!has_stood_still(*known)) {
      erase(path);
      return nullptr;
    }
    known->compared = now;
  }
  if (use.is_copied && !known->bytes.owner && ++known->copy_count >= copies_until_loaded) {
    load(*known);
  }
  return known;
}

const KeptFile* KeptFiles::refresh(std::string_view path, const FileStat& stat, loop::Instant now,
                                   std::uint64_t changes) {
  KeptFile* const known = touch(path, now);
  if (known == nullptr) return nullptr;
  if (known->stat != stat) {
    erase(path);
    return nullptr;
  }
  known->found = known->compared = now;
  known->changes = changes;
  return known;
}

const KeptFile* KeptFiles::insert(KeptFile file, Descriptor& descriptor, WallTime wall) {
  if (!disk::frees_names_at_once || file.stat.size_bytes > options_.kept_bytes ||
      has_recent_timestamps(file.stat, wall) || file.head.etag.empty()) {
    return nullptr;
  }
  if (options_.kept_files == 0) return nullptr;
  if (files_.size() >= options_.kept_files) erase(files_.back().path);
  file.file = HeldFile::take(descriptor, HeldFile::Holder::Cache);
  if (file.file == nullptr && !files_.empty()) {
    erase(files_.back().path);
    file.file = HeldFile::take(descriptor, HeldFile::Holder::Cache);
  }
  if (file.file == nullptr) return nullptr;
  file.compared = file.used = file.found;
  // Moved between the lists only once it is in the index: otherwise it could never be erased.
  std::list<KeptFile> one;
  one.push_front(std::move(file));
  index_.emplace(one.front().path, one.begin());
  files_.splice(files_.begin(), one);
  return &files_.front();
}

void KeptFiles::erase(std::string_view path) noexcept {
  const auto known = index_.find(path);
  if (known == index_.end()) return;
  const auto file = known->second;
  unload(*file);
  index_.erase(known);
  files_.erase(file);
}

KeptFile* KeptFiles::touch(std::string_view path, loop::Instant now) noexcept {
  const auto known = index_.find(path);
  if (known == index_.end()) return nullptr;
  files_.splice(files_.begin(), files_, known->second);
  known->second->used = now;
  return &*known->second;
}

// The state is compared once the bytes are read, so they are those that its ETag names.
void KeptFiles::load(KeptFile& file) {
  file.copy_count = 0;
  if (file.stat.size_bytes > options_.loaded_bytes) return;
  const auto size_bytes = static_cast<std::size_t>(file.stat.size_bytes);
  const auto room = std::make_shared_for_overwrite<char[]>(size_bytes);
  const std::span<char> bytes(room.get(), size_bytes);
  const Result<std::size_t> count = base::read_at(file.file->number(), 0, bytes);
  if (!count || *count != size_bytes || !has_stood_still(file)) return;
  make_room(size_bytes);
  file.bytes = {room, {bytes.data(), bytes.size()}};
  loaded_bytes_ += size_bytes;
}

// Unloads the least recently used files until that much fits into the budget.
void KeptFiles::make_room(std::size_t size_bytes) noexcept {
  for (auto file = files_.rbegin(); loaded_bytes_ + size_bytes > options_.loaded_bytes; ++file) {
    unload(*file);
  }
}

void KeptFiles::unload(KeptFile& file) noexcept {
  loaded_bytes_ -= file.bytes.text.size();
  file.bytes = {};
}

}  // namespace skua::files
