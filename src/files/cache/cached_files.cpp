// SPDX-License-Identifier: MIT
#include "files/cache/cached_files.hpp"

#include <iterator>
#include <utility>

namespace skua::files {
namespace {

// The cost of an entry beyond its bytes: list and index nodes, two heads, strings.
constexpr std::size_t entry_overhead_bytes = 1024;

}  // namespace

CachedFile with_responses(CachedFile file, std::string text, const FileFields& fields) {
  file.whole = std::make_shared<const PreparedResponse>(
      whole_response(file.head, Body(std::move(text)), fields.cache_control));
  file.unchanged =
      std::make_shared<const PreparedResponse>(unchanged_response(file.head, fields.cache_control));
  return file;
}

CachedFile* CachedFiles::find(std::string_view path) noexcept {
  const auto known = index_.find(path);
  if (known == index_.end()) return nullptr;
  files_.splice(files_.begin(), files_, known->second);
  return &*known->second;
}

CachedFile& CachedFiles::insert(CachedFile file) {
  // Moved between the lists only once it is in the index: otherwise it could never be erased.
  std::list<CachedFile> one;
  one.push_front(std::move(file));
  index_.emplace(one.front().path, one.begin());
  files_.splice(files_.begin(), one);
  CachedFile& inserted = files_.front();
  size_bytes_ += cost(inserted);
  while (size_bytes_ > total_bytes_ && files_.size() > 1) erase(files_.back().path);
  return inserted;
}

void CachedFiles::erase(std::string_view path) noexcept {
  const auto known = index_.find(path);
  if (known == index_.end()) return;
  const auto file = known->second;
  size_bytes_ -= cost(*file);
  index_.erase(known);
  files_.erase(file);
}

std::size_t CachedFiles::cost(const CachedFile& file) noexcept {
  const std::size_t body_bytes = file.whole != nullptr ? file.whole->body().size() : 0;
  return entry_overhead_bytes + 2 * file.path.size() + body_bytes;
}

}  // namespace skua::files
