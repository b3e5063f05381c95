// SPDX-License-Identifier: MIT
// In: a directory below the root. Out: its entries.
// Every entry passes the name check. Links are left out, because the resolver refuses them.
#include "files/listing/directory_index.hpp"

#include "base/disk_windows.hpp"
#include "base/wide_text.hpp"

#include <cerrno>
#include <utility>

#include "base/system_text.hpp"

namespace skua::files {
namespace {

/// A search, which Windows begins with an entry in hand.
struct Search {
  HANDLE handle = INVALID_HANDLE_VALUE;
  WIN32_FIND_DATAW entry{};
  bool has_entry = false;
};

DirectoryEntry make_entry(std::string name, const WIN32_FIND_DATAW& found) {
  DirectoryEntry entry{.name = std::move(name)};
  entry.is_directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  entry.modified_ns = disk::nanoseconds(found.ftLastWriteTime);
  if (!entry.is_directory) {
    entry.size_bytes = (std::uint64_t{found.nFileSizeHigh} << 32) | found.nFileSizeLow;
  }
  return entry;
}

}  // namespace

void DirectoryReader::Close::operator()(void* stream) const noexcept {
  const std::unique_ptr<Search> search(static_cast<Search*>(stream));
  if (search->handle != INVALID_HANDLE_VALUE) ::FindClose(search->handle);
}

Result<DirectoryReader> DirectoryReader::open(std::shared_ptr<const Root> root,
                                              std::string_view path) {
  const Result<OpenFile> folder = root->find(path);
  if (!folder) return folder.error();
  const std::wstring pattern = disk::final_path(folder->descriptor.number()) + L"\\*";
  Stream stream(new Search);
  Search& search = *static_cast<Search*>(stream.get());
  search.handle = ::FindFirstFileW(pattern.c_str(), &search.entry);
  if (search.handle == INVALID_HANDLE_VALUE) {
    return Error::from_system(base::errno_of(::GetLastError()), "FindFirstFile");
  }
  search.has_entry = true;
  return DirectoryReader(std::move(root), path, std::move(stream));
}

Result<bool> DirectoryReader::read(std::vector<DirectoryEntry>& entries, std::size_t max_entries) {
  Search& search = *static_cast<Search*>(stream_.get());
  while (entries.size() < max_entries) {
    if (!search.has_entry) return false;
    std::string name = base::narrow(search.entry.cFileName);
    if (!disk::is_link(search.entry) && is_visible(name, root_->policy())) {
      entries.push_back(make_entry(std::move(name), search.entry));
    }
    search.has_entry = ::FindNextFileW(search.handle, &search.entry) != 0;
    if (!search.has_entry && ::GetLastError() != ERROR_NO_MORE_FILES) {
      return Error::from_system(base::errno_of(::GetLastError()), "FindNextFile");
    }
  }
  return true;
}

void DirectoryReader::add_details(std::vector<DirectoryEntry>&) {}  // they come with the names

}  // namespace skua::files
