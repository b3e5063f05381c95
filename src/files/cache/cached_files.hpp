// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "files/file_head.hpp"
#include "files/safe_path.hpp"
#include "skua/prepared_response.hpp"

namespace skua::files {

/// The size of a cache, and how long it trusts its entries.
struct FileCacheOptions {
  std::size_t file_bytes = 64_KiB;   ///< larger files are left to the system's page cache
  std::size_t total_bytes = 16_MiB;  ///< beyond this the least recently used file is evicted
  Duration fresh = 1s;               ///< older entries are checked against the file system

  // Larger files stay open; see KeptFiles.
  std::uint64_t kept_bytes = 1_MiB;  ///< opening larger ones costs next to nothing beside sending
  std::size_t kept_files = 256;      ///< beyond this the least recently used one is closed
  Duration settled = 10ms;           ///< a state that is older is compared before it is sent
  Duration idle = 10s;               ///< files that nobody has asked for so long are closed
  std::size_t loaded_bytes = 8_MiB;  ///< of open files that are in memory as well
};

/// The needs of a response for a file.
struct FileUse {
  /// A part, which the client may join to another by their ETag: the file's state must not be that
  /// of a few milliseconds ago.
  bool is_part = false;
  /// The program handles the bytes itself, to encrypt them or to put them into frames.
  bool is_copied = false;
};

/// A small file in memory, with its prepared responses.
struct CachedFile {
  std::string path{};
  FileHead head{};
  FileStat stat{};
  std::shared_ptr<const PreparedResponse> whole{};      ///< 200; null if there is no such form
  std::shared_ptr<const PreparedResponse> unchanged{};  ///< 304
  loop::Instant checked{};
  std::uint64_t changes = 0;    ///< file_changes() before it was checked
  bool is_provisional = false;  ///< written too recently to trust its time stamps

  // Only in coded forms:
  FileStat plain{};                                ///< the state of the file that it is a form of
  bool is_made = false;                            ///< compressed by the server
  std::weak_ptr<const PreparedResponse> source{};  ///< if so, or if absent: of this
};

/// Returns the file with its responses, made of its head.
CachedFile with_responses(CachedFile file, std::string text, const FileFields& fields);

/// Cached files by their paths, within a budget.
class CachedFiles {
 public:
  explicit CachedFiles(std::size_t total_bytes) noexcept : total_bytes_(total_bytes) {}

  /// Returns a file and marks it as used, or null. The pointer is valid until the next insert() or
  /// erase().
  CachedFile* find(std::string_view path) noexcept;
  /// Inserts a file that is not there, and evicts others beyond the budget.
  CachedFile& insert(CachedFile file);
  void erase(std::string_view path) noexcept;

  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return index_.size(); }

 private:
  static std::size_t cost(const CachedFile& file) noexcept;

  std::list<CachedFile> files_;  // most recently used first
  // By the file's own path.
  std::unordered_map<std::string_view, std::list<CachedFile>::iterator> index_;
  std::size_t total_bytes_;
  std::size_t size_bytes_ = 0;
};

}  // namespace skua::files
