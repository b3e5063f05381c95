// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "coding/coding.hpp"
#include "files/archive/archive_writer.hpp"
#include "files/archive/folder_walk.hpp"

namespace skua::files {

enum class ArchiveFormat : std::uint8_t { Tar, TarGzip, Zip };

/// Makes an archive of a folder, piece by piece. Its calls block, so use it off the loop.
///
/// Every file in it is a state that the file really had: its size and time were the same before and
/// after it was read. A smaller file that changes meanwhile is read again; a larger one ends the
/// archive.
class ArchiveSource final {
 public:
  /// The most bytes that are read for a piece; smaller files are read at once.
  static constexpr std::size_t chunk_bytes = 256U << 10U;

  /// Ends with: Unsupported if this build cannot compress; OutOfMemory.
  static Result<std::unique_ptr<ArchiveSource>> create(FolderWalk walk, ArchiveFormat format);

  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// Returns the next piece, which may be empty, after a bounded amount of work.
  ///
  /// Ends with: the errors of the walk and of the disk; TruncatedBody if a file changes while it is
  ///            read; BodyTooLong.
  Result<std::string> next();

 private:
  struct Reading {
    OpenFile file{};
    std::uint64_t offset = 0;
  };

  ArchiveSource(FolderWalk walk, std::unique_ptr<ArchiveWriter> writer,
                std::optional<coding::Encoder> gzip)
      : walk_(std::move(walk)), writer_(std::move(writer)), gzip_(std::move(gzip)) {}

  Result<void> step(std::string& out);
  Result<void> begin(WalkItem item, std::string& out);
  Result<void> add_small(ArchiveEntry entry, OpenFile file, std::string& out);
  // Returns whether that was the last piece.
  Result<bool> go_on(Reading& reading, std::string& out);
  Result<std::string> compressed(coding::Encoder& gzip, const std::string& plain) const;

  FolderWalk walk_;
  std::unique_ptr<ArchiveWriter> writer_;
  std::optional<coding::Encoder> gzip_;
  std::optional<Reading> reading_{};
  std::string content_;  // keeps its memory from one file to the next
  bool is_done_ = false;
};

}  // namespace skua::files
