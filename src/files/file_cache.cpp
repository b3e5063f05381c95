// SPDX-License-Identifier: MIT
// In: a canonical path. Out: a file in memory with its responses ready, or an open descriptor.
// An entry is trusted for a second, and afterwards if the file's state is still the one it was read
// in. A very recent time stamp proves nothing (another write may leave the same one), so such an
// entry is read again instead of compared.
#include "files/file_cache.hpp"

#include <array>
#include <atomic>
#include <utility>

#include "base/file_io.hpp"

namespace skua::files {
namespace {

// The cost of an entry beyond its bytes: list and index nodes, two heads, strings.
constexpr std::size_t entry_overhead_bytes = 1024;

constexpr int read_attempts = 3;

// Reads exactly `size_bytes`, and checks that the file ends there.
std::optional<std::string> read_exactly(int file, std::size_t size_bytes) {
  std::string text(size_bytes + 1, '\0');
  const Result<std::size_t> count = base::read_at(file, 0, text);
  if (!count || *count != size_bytes) return std::nullopt;
  text.resize(size_bytes);
  return text;
}

// Reads a consistent state of a small file, and sets `stat`; returns nullopt if it keeps changing.
std::optional<std::string> read_state(int file, FileStat& stat, std::size_t max_bytes) {
  for (int attempt = 0; attempt < read_attempts; ++attempt) {
    if (stat.size_bytes > max_bytes) return std::nullopt;
    std::optional<std::string> text = read_exactly(file, static_cast<std::size_t>(stat.size_bytes));
    const Result<FileStat> after = stat_of(file);
    if (!after) return std::nullopt;
    if (text && *after == stat) return text;
    stat = *after;
  }
  return std::nullopt;
}

// Also checks the inode change time, which moves even if the modification time is set back.
bool has_recent_timestamps(FileStat stat, WallTime now) noexcept {
  if (is_just_modified(stat, now)) return true;
  stat.modified_ns = stat.changed_ns;
  return is_just_modified(stat, now);
}

}  // namespace

Result<FoundFile> FileCache::find(std::string_view path) {
  const loop::Instant now = times_.now();
  const auto known = index_.find(path);
  if (known == index_.end()) {
    Result<OpenFile> file = root_.find(path);
    if (!file) return file.error();
    return load(path, *std::move(file));
  }
  const Entries::iterator entry = known->second;
  entries_.splice(entries_.begin(), entries_, entry);
  if (now - entry->checked < options_.fresh) return FoundFile{.cached = &*entry};
  Result<OpenFile> file = root_.find(path);
  if (!file) {
    erase(entry);
    return file.error();
  }
  if (!entry->is_provisional && file->stat == entry->stat) {
    entry->checked = now;
    return FoundFile{.cached = &*entry};
  }
  erase(entry);
  return load(path, *std::move(file));
}

Result<FoundFile> FileCache::load(std::string_view path, OpenFile file) {
  const bool is_small =
      file.stat.kind == FileKind::Regular && file.stat.size_bytes <= options_.file_bytes;
  if (!is_small) return FoundFile{.file = std::move(file)};
  // Both times are taken before the file is read, so that a later change is newer than either.
  CachedFile entry{.path = std::string(path), .checked = times_.now()};
  const WallTime wall = times_.wall();
  std::optional<std::string> text =
      read_state(file.descriptor.number(), file.stat, options_.file_bytes);
  // The file keeps changing: it is sent as it is, like a large one.
  if (!text) return FoundFile{.file = std::move(file)};
  entry.stat = file.stat;
  entry.head = describe(path, file.stat, wall);
  entry.is_provisional = has_recent_timestamps(file.stat, wall);
  entry.whole = std::make_shared<const PreparedResponse>(
      whole_response(entry.head, Body(*std::move(text)), cache_control_));
  entry.unchanged =
      std::make_shared<const PreparedResponse>(unchanged_response(entry.head, cache_control_));
  insert(std::move(entry));
  return FoundFile{.cached = &entries_.front()};
}

void FileCache::insert(CachedFile entry) {
  entries_.push_front(std::move(entry));
  index_.emplace(entries_.front().path, entries_.begin());
  size_bytes_ += cost(entries_.front());
  while (size_bytes_ > options_.total_bytes && entries_.size() > 1)
    erase(std::prev(entries_.end()));
}

void FileCache::erase(Entries::iterator entry) noexcept {
  size_bytes_ -= cost(*entry);
  index_.erase(entry->path);
  entries_.erase(entry);
}

std::size_t FileCache::cost(const CachedFile& entry) noexcept {
  return entry_overhead_bytes + 2 * entry.path.size() +
         static_cast<std::size_t>(entry.stat.size_bytes);
}

// Each thread remembers pointers to its caches, which this object owns. A remembered pointer is
// checked by a unique id, so it can be outdated but never wrong.

namespace {

struct Memo {
  std::uint64_t id = 0;
  FileCache* cache = nullptr;
};

// Few programs serve more folders than this; two that share a slot look theirs up again.
constexpr std::size_t memo_count = 8;

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

WorkerCaches::WorkerCaches(std::function<std::unique_ptr<FileCache>()> make)
    : make_(std::move(make)), id_(next_id()) {}

FileCache& WorkerCaches::local() const {
  thread_local std::array<Memo, memo_count> memos;
  Memo& memo = memos[id_ % memo_count];
  if (memo.id != id_) memo = {id_, &find_or_make()};
  return *memo.cache;
}

FileCache& WorkerCaches::find_or_make() const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<FileCache>& cache = caches_[std::this_thread::get_id()];
  if (!cache) cache = make_();
  return *cache;
}

}  // namespace skua::files
