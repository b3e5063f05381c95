// SPDX-License-Identifier: MIT
// In: a directory below the root. Out: its entries.
// Every entry passes the name check and, if it is a link, the resolver itself, so the listing never
// shows a file that would be answered with 404.
#include "files/listing/directory_index.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

namespace skua::files {
namespace {

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
  const FileStat stat = disk::converted(state);
  if (stat.kind == FileKind::Link) {
    const Result<OpenFile> target = root.find(std::string(path) + name);
    if (!target) return std::nullopt;
    return make_entry(name, target->stat);
  }
  if (stat.kind == FileKind::Other) return std::nullopt;
  return make_entry(name, stat);
}

// Returns what the system tells with the name; nullopt if that is not enough.
std::optional<DirectoryEntry> named_entry(const dirent& item) {
  if (item.d_type != DT_REG && item.d_type != DT_DIR) return std::nullopt;
  return DirectoryEntry{
      .name = item.d_name, .is_directory = item.d_type == DT_DIR, .has_details = false};
}

}  // namespace

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

Result<bool> DirectoryReader::read(std::vector<DirectoryEntry>& entries, std::size_t max_entries) {
  DIR* const stream = static_cast<DIR*>(stream_.get());
  while (entries.size() < max_entries) {
    errno = 0;  // which alone tells an error from the end
    const dirent* const item = readdir(stream);
    if (item == nullptr && errno != 0) return Error::from_system(errno, "readdir");
    if (item == nullptr) return false;
    if (!is_visible(item->d_name, root_->policy())) continue;
    auto entry = named_entry(*item);
    if (!entry) entry = inspect(*root_, dirfd(stream), path_, item->d_name);
    if (entry) entries.push_back(*std::move(entry));
  }
  return true;
}

void DirectoryReader::add_details(std::vector<DirectoryEntry>& entries) {
  const int directory = dirfd(static_cast<DIR*>(stream_.get()));
  std::erase_if(entries, [&](DirectoryEntry& entry) {
    if (entry.has_details) return false;
    auto found = inspect(*root_, directory, path_, entry.name.c_str());
    if (!found) return true;
    entry = *std::move(found);
    return false;
  });
}

}  // namespace skua::files
