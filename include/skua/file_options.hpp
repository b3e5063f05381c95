// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

namespace skua {

/// How a folder is served; the defaults are safe for the open Internet.
struct FileOptions {
  std::string index = "index.html";  ///< what a path that ends in `/` means; empty: nothing
  /// How long clients may use an answer without asking again (Cache-Control). Zero: they ask each
  /// time and mostly hear 304. Negative: nothing is said.
  std::chrono::seconds max_age{0};
  bool listing = false;         ///< a folder without index is answered with its entries; else 404
  bool dotfiles = false;        ///< serves names that begin with a dot, not only `/.well-known/`
  bool follow_symlinks = true;  ///< those that stay inside the folder; others are never followed
};

}  // namespace skua
