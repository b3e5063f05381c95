// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "skua/bytes.hpp"

namespace skua {

/// Options of a folder that accepts uploads; the defaults are safe for the open Internet.
struct UploadOptions {
  /// The most content of a request; 413 for more. Zero accepts only empty files.
  std::uint64_t max_bytes = 1_GiB;
  bool overwrite = false;  ///< replaces files; otherwise 409
  bool dotfiles = false;   ///< accepts names with a leading dot, not only below `/.well-known/`
  bool follow_symlinks = true;  ///< links to folders, only those that stay inside the folder
};

}  // namespace skua
