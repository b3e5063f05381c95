// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/disk.hpp"
#include "skua/async.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// Writes all of a text to an open file.
Result<void> write_all(int file, std::string_view text) noexcept;

/// Closes a file that may have been removed: its last descriptor frees its content, which takes
/// long for many GiB.
void close_off_loop(disk::Descriptor file) noexcept;

/// A file that is written under a temporary name until it is complete. Its calls block, so use it
/// off the loop.
///
/// Lifetime:  if destroyed before keep_as() succeeds, it removes the file.
class PartialFile {
 public:
  PartialFile() = default;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  /// Creates the file in the folder of `path`, with mode `mode & ~umask`.
  Result<void> create(const std::string& path, unsigned mode = 0666);
  Result<void> write(std::string_view text) noexcept { return write_all(descriptor_, text); }
  /// Renames the file to `path`, replacing any existing file.
  Result<void> keep_as(const std::string& path) noexcept;

 private:
  std::string name_;
  int descriptor_ = -1;
};

/// A file that a FileSaver writes. Its calls block.
class SavedFile {
 public:
  SavedFile() = default;
  SavedFile(const SavedFile&) = delete;
  SavedFile& operator=(const SavedFile&) = delete;
  virtual ~SavedFile() = default;

  virtual Result<void> write(std::string_view text) = 0;
  /// Completes the file, after the last write.
  virtual Result<void> keep() = 0;
};

/// Writes a file piece by piece from a coroutine. Calls that may block on a disk run off the loop,
/// in batches that are large enough to pay off.
///
/// Lifetime:  if destroyed early, it lets a call in progress finish, then releases the file.
class FileSaver {
 public:
  /// Writes a PartialFile, which is kept as `path`.
  explicit FileSaver(std::string path);
  explicit FileSaver(std::shared_ptr<SavedFile> file);

  /// Ends with: a file system error of this or an earlier piece; Overloaded.
  Task<Result<void>> write(Bytes piece);
  /// Completes the file under its name; returns its size in bytes.
  Task<Result<std::uint64_t>> end();

 private:
  struct Batch;
  static Task<Result<void>> flush(std::shared_ptr<Batch> batch, bool is_last);

  std::shared_ptr<Batch> batch_;  // shared with calls off the loop, which may outlive us
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::files
