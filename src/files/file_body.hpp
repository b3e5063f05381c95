// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "files/safe_path.hpp"
#include "skua/body.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// Where a file is: below a root, or, without one, where the program says.
struct FilePlace {
  std::shared_ptr<const Root> root{};
  std::string path{};

  /// Opens it; never blocks.
  [[nodiscard]] Result<OpenFile> open() const;
};

/// Which bytes of a file.
struct FilePart {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// How many files responses may hold open in a process that may open so many.
constexpr std::size_t held_files_at_most(std::size_t open_files) noexcept {
  return 8 + open_files / 32;
}

/// A part of a file as the content of a response.
///
/// The file stays open until the part is sent, unless responses hold as many as they may. Then it
/// is opened again for each piece and closed before the peer is waited for: slow peers cannot use
/// up the descriptors that other requests need.
///
/// Ends with: for the content that is read in pieces, TruncatedBody if the file is changed while it
///            is sent, or what opening it ends with.
Body file_body(OpenFile file, FilePlace place, FilePart part);

}  // namespace skua::files
