// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "skua/bytes.hpp"
#include "skua/file_options.hpp"

namespace skua {

/// Options of a folder that WebDAV clients read and change; the defaults are safe for the open
/// Internet, given that a guard decides who may use it.
struct WebDavOptions {
  /// Of GET and HEAD. Names with a leading dot and links are treated alike by all methods.
  FileOptions files{.listing = true};
  std::uint64_t max_bytes = 1_GiB;  ///< the most content of a PUT; 413 for more
  /// The most files and folders that one COPY, MOVE or DELETE touches; 507 for more, before
  /// anything is changed. A folder that is renamed counts as one.
  std::size_t max_tree_entries = 100'000;
  std::size_t max_tree_depth = 64;        ///< the most folders inside each other; MKCOL, too: 507
  std::uint64_t max_copy_bytes = 16_GiB;  ///< the most content that one COPY copies; 507 for more
};

}  // namespace skua
