// SPDX-License-Identifier: MIT
// In: a file or a folder, open or as a name in an open folder. Out: nothing of it, or another one
// like it. Every step is relative to an open folder and follows no link, so that whatever other
// processes do meanwhile, none leads out of the tree. The names of a folder are read before
// anything in it changes.
#include "files/dav/tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "files/cache/file_changes.hpp"
#include "files/dav/dead_properties.hpp"
#include "files/listing/directory_index.hpp"
#include "files/save.hpp"
#include "files/upload/upload_file.hpp"

namespace skua::files {
namespace {

constexpr std::size_t max_failures = 1000;
constexpr std::size_t names_in_a_piece = 256;
constexpr std::size_t copied_at_once = 131'072;

// Reads one name more than are allowed, so that the caller can tell.
Result<std::vector<std::string>> names_in(const TreeFolder& folder, std::size_t at_most) {
  Result<NameReader> reader = NameReader::open(folder);
  if (!reader) return reader.error();
  std::vector<std::string> names;
  const Result<bool> read = reader->read(names, at_most + 1);
  if (!read) return read.error();
  return names;
}

// Removes the temporary file of an upload that nobody writes any more.
bool remove_remnant(const TreeFolder& folder, const std::string& name) {
  const Result<disk::Descriptor> file = folder.open_file(name);
  if (!file || !disk::lock(file->number())) return false;
  return folder.remove_file(name).has_value();
}

/// A file with a temporary name, which it loses if it is not kept.
class TemporaryCopy {
 public:
  explicit TemporaryCopy(const TreeFolder& folder) noexcept : folder_(folder) {}
  TemporaryCopy(const TemporaryCopy&) = delete;
  TemporaryCopy& operator=(const TemporaryCopy&) = delete;
  ~TemporaryCopy() {
    if (!name_.empty()) static_cast<void>(folder_.remove_file(name_));
  }

  Result<disk::Descriptor> create() {
    Result<std::string> name = unfinished_name();
    if (!name) return name.error();
    Result<disk::Descriptor> file = folder_.create_file(*name);
    if (!file) return file;
    name_ = *std::move(name);
    if (!disk::lock(file->number())) return Error(Errc::Overloaded, "create");
    return file;
  }

  Result<void> keep_as(const std::string& name, bool replaces) {
    const Result<void> moved =
        replaces ? folder_.move(name_, folder_, name) : folder_.move_beside(name_, folder_, name);
    if (moved) name_.clear();
    return moved;
  }

 private:
  const TreeFolder& folder_;
  std::string name_;
};

}  // namespace

Status tree_status(const Error& error) noexcept {
  switch (error.system_code()) {
    case ENOTEMPTY:
    case EEXIST:
    case EBUSY: return Status::Conflict;
    case ELOOP:
    case EXDEV:
    case EROFS:
    case ENAMETOOLONG: return Status::Forbidden;
    default: return failed(error).status;
  }
}

bool can_move(const TreeFolder& from, const TreeFolder& to) {
  const Result<std::string> name = unfinished_name();
  if (!name || !from.create_file(*name)) return false;
  const bool has_moved = from.move(*name, to, *name).has_value();
  static_cast<void>((has_moved ? to : from).remove_file(*name));
  return has_moved;
}

std::size_t depth_of_path(std::string_view path) noexcept {
  return path == "/" ? 0 : static_cast<std::size_t>(std::ranges::count(path, '/'));
}

bool is_at_most(const TreeFolder& folder, std::size_t depth) {
  if (depth == 0) return false;
  Result<NameReader> reader = NameReader::open(folder);
  if (!reader) return true;
  for (bool has_more = true; has_more;) {
    std::vector<std::string> names;
    has_more = reader->read(names, names_in_a_piece).value_or(false);
    for (const std::string& name : names) {
      const Result<FileStat> stat = folder.stat(name);
      if (!stat || stat->kind != FileKind::Directory) continue;
      const Result<TreeFolder> inner = folder.open_folder(name);
      if (inner && !is_at_most(*inner, depth - 1)) return false;
    }
  }
  return true;
}

void TreeWork::fail(const std::string& path, Status status) {
  if (failures_.size() < max_failures) failures_.push_back({path, status});
}

// More than was measured: somebody fills the tree meanwhile.
bool TreeWork::has_room(const std::string& path, std::size_t depth) {
  if (depth <= options_.max_tree_depth && entries_ <= options_.max_tree_entries) return true;
  fail(path, Status::InsufficientStorage);
  return false;
}

// Reports whether what has this path may be read, removed or both.
bool TreeWork::may_take(const std::string& path) const {
  const bool reads = purpose_ != Purpose::Remove;
  const bool removes = purpose_ != Purpose::Copy;
  return (!reads || access_.allows(Method::Get, path)) &&
         (!removes || access_.allows(Method::Delete, path));
}

std::optional<Status> TreeWork::measure(const TreeFolder& folder, const std::string& path,
                                        const std::string& to_path, std::size_t depth) {
  if (depth > options_.max_tree_depth) return Status::InsufficientStorage;
  const auto names = names_in(folder, options_.max_tree_entries - entries_);
  if (!names) return tree_status(names.error());
  entries_ += names->size();
  if (entries_ > options_.max_tree_entries) return Status::InsufficientStorage;
  for (const std::string& name : *names) {
    if (is_unfinished(name)) continue;
    const Result<FileStat> stat = folder.stat(name);
    if (!stat) continue;
    const std::string inner = stat->kind == FileKind::Directory ? name + '/' : name;
    if (!is_visible(name, root_.policy()) || !may_take(path + inner)) {
      if (purpose_ != Purpose::Copy) return Status::Forbidden;
      continue;
    }
    const std::string to = to_path.empty() ? std::string() : to_path + inner;
    if (!to.empty() && !access_.allows(Method::Put, to)) return Status::Forbidden;
    if (stat->kind == FileKind::Regular) copied_bytes_ += stat->size_bytes;
    if (purpose_ != Purpose::Remove && copied_bytes_ > options_.max_copy_bytes) {
      return Status::InsufficientStorage;
    }
    if (stat->kind != FileKind::Directory) continue;
    const Result<TreeFolder> below = folder.open_folder(name);
    if (!below) continue;  // what is done to it will fail, too, and be reported
    if (const auto refused = measure(*below, path + inner, to, depth + 1)) return refused;
  }
  if (depth == 1) {
    entries_ = 0;
    copied_bytes_ = 0;
  }
  return std::nullopt;
}

bool TreeWork::remove(const TreeFolder& parent, const std::string& name, const std::string& path,
                      std::size_t depth) {
  const Result<FileStat> stat = parent.stat(name);
  if (!stat) {
    if (stat.error().code() == Errc::NotFound) return true;
    fail(path, stat.error());
    return false;
  }
  if (stat->kind == FileKind::Directory) {
    return remove_folder(parent, name, path.ends_with('/') ? path : path + '/', depth);
  }
  const Result<void> removed = parent.remove_file(name);
  if (removed || removed.error().code() == Errc::NotFound) return true;
  fail(path, removed.error());
  return false;
}

bool TreeWork::remove_folder(const TreeFolder& parent, const std::string& name,
                             const std::string& path, std::size_t depth) {
  if (!has_room(path, depth)) return false;
  const Result<TreeFolder> folder = parent.open_folder(name);
  if (!folder) {
    fail(path, folder.error());
    return false;
  }
  const auto names = names_in(*folder, options_.max_tree_entries - entries_);
  if (!names) {
    fail(path, names.error());
    return false;
  }
  entries_ += names->size();
  bool is_empty = true;
  for (const std::string& inner : *names) {
    if (is_unfinished(inner)) {
      if (remove_remnant(*folder, inner)) continue;
      fail(path, Status::Conflict);  // of an upload in progress
      is_empty = false;
    } else if (!is_visible(inner, root_.policy()) || !may_take(path + inner)) {
      fail(path, Status::Forbidden);
      is_empty = false;
    } else if (!remove(*folder, inner, path + inner, depth + 1)) {
      is_empty = false;
    }
  }
  // RFC 4918 §9.6.1: what is around a file that is still there needs no status of its own.
  if (!is_empty) return false;
  const Result<void> removed = parent.remove_folder(name);
  if (removed || removed.error().code() == Errc::NotFound) return true;
  fail(path, removed.error());
  return false;
}

bool TreeWork::copy_folder(const TreeFolder& from, const std::string& from_path,
                           const TreeFolder& parent, const std::string& name,
                           const std::string& path, bool is_deep, std::size_t depth) {
  if (!has_room(path, depth)) return false;
  const auto names = is_deep ? names_in(from, options_.max_tree_entries - entries_)
                             : Result<std::vector<std::string>>(std::vector<std::string>());
  if (!names) {
    fail(path, names.error());
    return false;
  }
  entries_ += names->size();
  if (!has_room(path, depth)) return false;
  const Result<void> made = parent.make_folder(name);
  if (!made) {
    fail(path, made.error());
    return false;
  }
  const Result<TreeFolder> to = parent.open_folder(name);
  if (!to) {
    fail(path, to.error());
    return false;
  }
  copy_properties(from.number(), to->number());
  for (const std::string& inner : *names) {
    if (!is_visible(inner, root_.policy()) || !may_take(from_path + inner)) continue;
    copy_entry(from, from_path, inner, *to, path, depth);
  }
  return true;
}

void TreeWork::copy_entry(const TreeFolder& from, const std::string& from_path,
                          const std::string& name, const TreeFolder& to, const std::string& to_path,
                          std::size_t depth) {
  const Result<FileStat> stat = from.stat(name);
  if (!stat) return;  // it has just gone
  const std::string path = to_path + name;
  if (!access_.allows(Method::Put, path)) return fail(path, Status::Forbidden);
  if (stat->kind == FileKind::Directory) {
    const Result<TreeFolder> folder = from.open_folder(name);
    if (!folder) return fail(path + '/', folder.error());
    copy_folder(*folder, from_path + name + '/', to, name, path + '/', true, depth + 1);
    return;
  }
  Result<disk::Descriptor> file = Error(Errc::PermissionDenied, "copy");
  if (stat->kind == FileKind::Regular) file = from.open_file(name);
  if (stat->kind == FileKind::Link) {
    // A folder may be one around this link, so a copy might never end.
    Result<OpenFile> target = root_.find(from_path + name);
    if (!target && purpose_ != Purpose::Move) return;  // clients cannot see it
    if (target && target->stat.kind == FileKind::Regular) file = std::move(target->descriptor);
  }
  if (!file) return fail(path, file.error());
  const bool syncs = purpose_ == Purpose::Move;  // before the other is removed
  if (const auto copied = copy_file(*file, to, name, false, syncs); !copied) {
    fail(path, copied.error());
  }
}

Result<void> TreeWork::copy_file(const disk::Descriptor& from, const TreeFolder& parent,
                                 const std::string& name, bool replaces, bool syncs) {
  TemporaryCopy copy(parent);
  const Result<disk::Descriptor> to = copy.create();
  if (!to) return to.error();
  if (auto copied = copy_content(from, *to); !copied) return copied;
  copy_properties(from.number(), to->number());
  if (syncs && disk::sync(to->number()) != 0) return Error::from_system(errno, "fsync");
  if (auto kept = copy.keep_as(name, replaces); !kept) return kept;
  if (const Result<FileStat> made = disk::stat_of(to->number())) note_written(*made);
  if (syncs) parent.sync();
  return {};
}

Result<void> TreeWork::copy_content(const disk::Descriptor& from, const disk::Descriptor& to) {
  std::string buffer(copied_at_once, '\0');
  while (true) {
    const auto size = disk::read(from.number(), buffer.data(), buffer.size());
    if (size == 0) return {};
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Error::from_system(errno, "read");
    copied_bytes_ += static_cast<std::uint64_t>(size);
    if (copied_bytes_ > options_.max_copy_bytes) return Error(Errc::SystemFailure, "copy", ENOSPC);
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(size));
    if (auto written = write_all(to.number(), piece); !written) return written;
  }
}

}  // namespace skua::files
