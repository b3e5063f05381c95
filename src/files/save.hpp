// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/async.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::files {

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
  Result<void> write(std::string_view text) noexcept;
  /// Renames the file to `path`, replacing any existing file.
  Result<void> keep_as(const std::string& path) noexcept;

 private:
  std::string name_;
  int descriptor_ = -1;
};

/// Writes a file piece by piece from a coroutine. Calls that may block on a disk run off the loop,
/// in batches that are large enough to pay off.
///
/// Lifetime:  if destroyed early, it lets a call in progress finish, then removes the file.
class FileSaver {
 public:
  explicit FileSaver(std::string path);

  /// Ends with: a file system error of this or an earlier piece; Overloaded.
  Task<Result<void>> write(Bytes piece);
  /// Completes the file under its name; returns its size in bytes.
  Task<Result<std::uint64_t>> end();

 private:
  struct File;
  static Task<Result<void>> flush(std::shared_ptr<File> file, bool is_last);

  std::shared_ptr<File> file_;  // shared with calls off the loop, which may outlive us
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::files
