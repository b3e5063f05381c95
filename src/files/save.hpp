// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "files/partial_file.hpp"
#include "skua/async.hpp"
#include "skua/bytes.hpp"

namespace skua::files {

/// Writes a file piece by piece from a coroutine; what may wait for a disk is done off the loop.
///
/// Lifetime:  dropped, it lets a call that has begun end by itself, then removes the file.
class FileSaver {
 public:
  explicit FileSaver(std::string path)
      : path_(std::make_shared<const std::string>(std::move(path))),
        file_(std::make_shared<PartialFile>()) {}

  Task<Result<void>> begin();
  Task<Result<void>> write(Bytes piece);
  /// Gives the file its name; returns its size in bytes.
  Task<Result<std::uint64_t>> end();

 private:
  // Shared with the calls that are made off the loop: they may outlive us.
  std::shared_ptr<const std::string> path_;
  std::shared_ptr<PartialFile> file_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace skua::files
