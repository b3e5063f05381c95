// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "skua/bytes.hpp"

namespace skua {

/// Options of a folder that accepts uploads; the defaults are safe for the open Internet.
struct UploadOptions {
  /// The most content of a request, or of all requests of a resumable upload; 413 for more. Zero
  /// accepts only empty files.
  std::uint64_t max_bytes = 1_GiB;
  bool overwrite = false;  ///< replaces files; otherwise 409
  bool dotfiles = false;   ///< accepts names with a leading dot, not only below `/.well-known/`
  bool follow_symlinks = true;  ///< links to folders, only those that stay inside the folder
  /// Lets clients that ask for it go on with an upload after it was interrupted.
  bool resumable = false;
  /// How long what has arrived of such an upload is kept after its last byte, an empty one for ten
  /// minutes at most. Zero: until the next upload begins.
  std::chrono::seconds keep_unfinished = std::chrono::hours(24);
  /// The most resumable uploads that are not finished, a quarter by one client; 507 for more.
  std::size_t max_unfinished = 100;
  /// The most bytes that they may have together when finished, a quarter by one client, at least
  /// `max_bytes`; one of unknown length counts as what has arrived and 64 MiB.
  std::uint64_t max_unfinished_bytes = 16_GiB;
};

}  // namespace skua
