// SPDX-License-Identifier: MIT
// In: paths, and the files that they led to. Out: the same files, still open. A file is kept only
// once its time stamps are old: then every later write changes its state, and its tag is strong.
#include "files/open/kept_files.hpp"

#include <utility>

#include "base/disk.hpp"

namespace skua::files {

const KeptFile* KeptFiles::find(std::string_view path, loop::Instant now, bool compare) {
  // The space of a removed file is free only once it is closed.
  while (!files_.empty() && now - files_.back().used >= options_.idle) erase(files_.back().path);
  KeptFile* const known = use(path, now);
  if (known == nullptr || now - known->found >= options_.fresh) return nullptr;
  if (!compare && now - known->compared < options_.settled) return known;
  const Result<FileStat> stat = stat_of(known->file->number());
  if (!stat || *stat != known->stat) {
    erase(path);
    return nullptr;
  }
  known->compared = now;
  return known;
}

const KeptFile* KeptFiles::refresh(std::string_view path, const FileStat& stat, loop::Instant now) {
  KeptFile* const known = use(path, now);
  if (known == nullptr) return nullptr;
  if (known->stat != stat) {
    erase(path);
    return nullptr;
  }
  known->found = known->compared = now;
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
  index_.erase(known);
  files_.erase(file);
}

KeptFile* KeptFiles::use(std::string_view path, loop::Instant now) noexcept {
  const auto known = index_.find(path);
  if (known == index_.end()) return nullptr;
  files_.splice(files_.begin(), files_, known->second);
  known->second->used = now;
  return &*known->second;
}

}  // namespace skua::files
