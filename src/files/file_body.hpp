// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "files/open/held_file.hpp"
#include "files/safe_path.hpp"
#include "skua/body.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// The location of a file: below a root, or a path from the program if there is no root.
struct FilePlace {
  std::shared_ptr<const Root> root{};
  std::string path{};

  /// Opens the file; never blocks.
  [[nodiscard]] Result<OpenFile> open() const;
};

/// A byte range of a file.
struct FilePart {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// Tells the current loop, if there is one, that it will send ranges of files, which may have to
/// be read from a disk first. Defined in body/cold_files.cpp: programs that send no files do not
/// link it.
void expect_file_ranges();

/// Creates response content from a part of a file.
///
/// The file stays open until the part is sent, unless responses already hold their maximum. Then it
/// is opened for each piece and closed before waiting for the peer, so slow peers cannot use up the
/// descriptors that other requests need.
///
/// Ends with: for content that is read in pieces, TruncatedBody if the file changes while it is
///            sent, or the error of opening it.
Body file_body(OpenFile file, FilePlace place, FilePart part);

}  // namespace skua::files
