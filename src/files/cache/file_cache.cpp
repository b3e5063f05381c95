// SPDX-License-Identifier: MIT
// In: a canonical path. Out: a file in memory with its responses ready, or an open descriptor.
// An entry is trusted for a second, and afterwards if the file's state is still the one it was read
// in. A very recent time stamp proves nothing (another write may leave the same one), so such an
// entry is read again instead of compared.
#include "files/cache/file_cache.hpp"

#include <utility>

#include "base/file_io.hpp"
#include "files/mime_type.hpp"

namespace skua::files {
namespace {

constexpr int read_attempts = 3;

// Reads at the begin of a file, without waiting for the disk if the system can tell.
Result<std::size_t> read_begin(int file, std::string& text) {
  const Result<std::size_t> count = base::read_resident(file, 0, text);
  if (count || count.error().code() != Errc::Unsupported) return count;
  return base::read_at(file, 0, text);
}

// Reads a consistent state of a small file, and sets `stat`; returns nullopt if it keeps changing,
// or if the disk has to be waited for.
std::optional<std::string> read_state(int file, FileStat& stat, std::size_t max_bytes) {
  for (int attempt = 0; attempt < read_attempts; ++attempt) {
    if (stat.size_bytes > max_bytes) return std::nullopt;
    const auto size_bytes = static_cast<std::size_t>(stat.size_bytes);
    std::string text(size_bytes + 1, '\0');  // one more, which must not be there
    const Result<std::size_t> count = read_begin(file, text);
    if (!count && count.error().code() == Errc::WouldBlock) return std::nullopt;
    const Result<FileStat> after = stat_of(file);
    if (!after) return std::nullopt;
    if (count && *count == size_bytes && *after == stat) {
      text.resize(size_bytes);
      return text;
    }
    stat = *after;
  }
  return std::nullopt;
}

// Reports whether an entry is about this state of its file. That there is no form holds for the
// same bytes only: a file that was not in memory then may be compressed now.
bool is_form_of(const CachedFile& form, const FoundFile& plain, const FileStat& stat) noexcept {
  if (form.plain != stat) return false;
  if (form.whole != nullptr && !form.is_made) return true;  // a sibling
  const std::shared_ptr<const PreparedResponse> nothing;
  const auto& source = plain.cached != nullptr ? plain.cached->whole : nothing;
  return !form.source.owner_before(source) && !source.owner_before(form.source);
}

// Returns a large file, which stays open if it may.
FoundFile keep_open(KeptFiles& kept, KeptFile entry, OpenFile file, WallTime wall) {
  if (const KeptFile* const known = kept.insert(std::move(entry), file.descriptor, wall)) {
    return {.kept = known};
  }
  return {.file = std::move(file)};
}

}  // namespace

Result<FoundFile> FileCache::find(std::string_view path, FileUse use) {
  const loop::Instant now = times_.now();
  const std::uint64_t changes = file_changes();
  CachedFile* const known = files_.find(path);
  if (known != nullptr && known->changes == changes && now - known->checked < options_.fresh) {
    return FoundFile{.cached = known};
  }
  if (const KeptFile* const kept = kept_.find(path, now, use)) {
    return FoundFile{.kept = kept, .is_copied = use.is_copied};
  }
  Result<OpenFile> file = root_.find(path);
  if (file && known != nullptr && !known->is_provisional && file->stat == known->stat) {
    known->checked = now;
    known->changes = changes;
    return FoundFile{.cached = known};
  }
  if (known != nullptr) {
    // Other threads must not answer with what is gone.
    if (!file || file->stat != known->stat) note_file_change();
    files_.erase(path);
  }
  if (!file) {
    kept_.erase(path);
    return file.error();
  }
  if (const KeptFile* const kept = kept_.refresh(path, file->stat, now, changes)) {
    return FoundFile{.kept = kept};
  }
  return load(path, *std::move(file), now, changes);
}

// Tells the other threads of a state that they may not have seen: their entries are younger than
// `fresh`, so the change would be as well.
void FileCache::tell(std::string_view path, const FileStat& stat, WallTime wall) const {
  if (fields_.recent == nullptr) return;
  constexpr std::chrono::seconds coarsest_clock{2};
  const WallTime changed{std::chrono::nanoseconds(stat.changed_ns)};
  if (wall - changed - coarsest_clock <= options_.fresh) fields_.recent->see(path, stat);
}

FoundFile FileCache::load(std::string_view path, OpenFile file, loop::Instant now,
                          std::uint64_t changes) {
  if (file.stat.kind != FileKind::Regular) return {.file = std::move(file)};
  tell(path, file.stat, times_.wall());
  if (file.stat.size_bytes > options_.file_bytes) {
    const WallTime wall = times_.wall();
    KeptFile entry{.path = std::string(path), .stat = file.stat, .found = now, .changes = changes};
    entry.head = describe(path, file.stat, wall, fields_);
    return keep_open(kept_, std::move(entry), std::move(file), wall);
  }
  // Both times are taken before the file is read, so that a later change is newer than either.
  CachedFile entry{.path = std::string(path), .checked = times_.now(), .changes = changes};
  const WallTime wall = times_.wall();
  std::optional<std::string> text =
      read_state(file.descriptor.number(), file.stat, options_.file_bytes);
  // The file keeps changing, or is not in memory yet: it is sent as it is, like a large one.
  if (!text) return {.file = std::move(file)};
  entry.stat = file.stat;
  entry.head = describe(path, file.stat, wall, fields_, std::nullopt, *text);
  entry.is_provisional = has_recent_timestamps(file.stat, wall);
  return {.cached = &files_.insert(with_responses(std::move(entry), *std::move(text), fields_))};
}

bool is_worth_coding(std::string_view type, std::uint64_t size_bytes) noexcept {
  constexpr std::uint64_t least_bytes = 1_KiB;
  return size_bytes >= least_bytes && is_compressible(type);
}

std::optional<FoundFile> CodedCache::find(std::string_view path, const FoundFile& plain,
                                          FileUse use) {
  FoundFile form = find_any(path, plain, use);
  const CachedFile* const cached = form.cached;
  const bool is_absent = cached != nullptr && cached->whole == nullptr;
  if (is_absent || (cached != nullptr && cached->is_made && use.is_part)) return std::nullopt;
  return form;
}

// Also finds the mark of a form that is absent.
FoundFile CodedCache::find_any(std::string_view path, const FoundFile& plain, FileUse use) {
  const FileStat& stat = plain.stat();
  const loop::Instant now = times_.now();
  const std::uint64_t changes = file_changes();
  CachedFile* known = files_.find(path);
  if (known != nullptr && !is_form_of(*known, plain, stat)) {
    files_.erase(path);
    known = nullptr;
  }
  if (known != nullptr && known->changes == changes && now - known->checked < options_.fresh) {
    return {.cached = known};
  }
  const KeptFile* kept = kept_.find(path, now, use);
  if (kept != nullptr && kept->plain == stat) {
    return {.kept = kept, .is_copied = use.is_copied, .coding = coding_};
  }
  std::optional<OpenFile> sibling = find_sibling(path, stat);
  if (known != nullptr) {
    const bool is_sibling = known->whole != nullptr && !known->is_made;
    const bool is_current =
        sibling ? is_sibling && !known->is_provisional && sibling->stat == known->stat
                : !is_sibling;
    if (is_current) {
      known->checked = now;
      known->changes = changes;
      return {.cached = known};
    }
    files_.erase(path);
  }
  if (sibling) kept = kept_.refresh(path, sibling->stat, now, changes);
  if (sibling && kept != nullptr && kept->plain == stat) return {.kept = kept, .coding = coding_};
  kept_.erase(path);
  CachedFile entry{.path = std::string(path), .checked = now, .changes = changes, .plain = stat};
  if (sibling) return load(std::move(entry), *std::move(sibling));
  return {.cached = &files_.insert(make(std::move(entry), plain))};
}

FoundFile CodedCache::load(CachedFile entry, OpenFile sibling) {
  const WallTime wall = times_.wall();
  if (sibling.stat.size_bytes > options_.file_bytes) {
    KeptFile open{.path = std::move(entry.path),
                  .stat = sibling.stat,
                  .found = entry.checked,
                  .changes = entry.changes,
                  .plain = entry.plain};
    open.head = describe(open.path, sibling.stat, wall, fields_, coding_);
    FoundFile found = keep_open(kept_, std::move(open), std::move(sibling), wall);
    found.coding = coding_;
    return found;
  }
  std::optional<std::string> text =
      read_state(sibling.descriptor.number(), sibling.stat, options_.file_bytes);
  if (!text) return {.file = std::move(sibling), .coding = coding_};
  entry.stat = sibling.stat;
  entry.head = describe(entry.path, sibling.stat, wall, fields_, coding_, *text);
  entry.is_provisional = has_recent_timestamps(sibling.stat, wall);
  return {.cached = &files_.insert(with_responses(std::move(entry), *std::move(text), fields_))};
}

// Returns the compressed form, or the mark that there is none.
CachedFile CodedCache::make(CachedFile entry, const FoundFile& plain) const {
  if (plain.cached == nullptr) return entry;
  entry.source = plain.cached->whole;
  if (!fields_.made) return entry;
  const std::string_view text = plain.cached->whole->body();
  if (!is_worth_coding(plain.cached->head.type, text.size())) return entry;
  Result<coding::Encoder> encoder = coding::Encoder::create(coding_, coding::levels(coding_).usual);
  std::string coded;
  if (!encoder || !encoder->finish(text, coded) || coded.size() >= text.size()) return entry;
  entry.is_made = true;
  entry.head = coded_head(plain.cached->head, coding_);
  return with_responses(std::move(entry), std::move(coded), fields_);
}

std::optional<OpenFile> CodedCache::find_sibling(std::string_view path,
                                                 const FileStat& plain) const {
  if (!fields_.siblings) return std::nullopt;
  std::string name(path);
  name += sibling_suffix(coding_);
  Result<OpenFile> file = root_.find(name);
  if (!file || file->stat.kind != FileKind::Regular) return std::nullopt;
  // It was made of an earlier state.
  if (file->stat.modified_ns < plain.modified_ns) return std::nullopt;
  return *std::move(file);
}

}  // namespace skua::files
