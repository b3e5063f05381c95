// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "skua/async.hpp"
#include "skua/bytes.hpp"

namespace skua::files {

/// Writes a file piece by piece from a coroutine; what may wait for a disk is done off the loop,
/// for as many pieces at a time as make that worth while.
///
/// Lifetime:  dropped, it lets a call that has begun end by itself, then removes the file.
class FileSaver {
 public:
  explicit FileSaver(std::string path);

  /// Ends with: what the file system says of this or an earlier piece; Overloaded.
  Task<Result<void>> write(Bytes piece);
  /// Gives the file its name; returns its size in bytes.
  Task<Result<std::uint64_t>> end();

 private:
  struct File;
  static Task<Result<void>> flush(std::shared_ptr<File> file, bool is_last);

  std::shared_ptr<File> file_;  // shared with the call that is made off the loop: it may outlive us
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::files
